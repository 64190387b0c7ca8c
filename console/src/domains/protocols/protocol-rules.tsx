import { Link, useParams } from '@tanstack/react-router'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { ProtocolRow } from './queries.ts'
import { StartRules } from './start-rules.tsx'
import { protocolsText } from './text.ts'
import { useWayWords } from './way-words.ts'

/** What holds for all phases: what it governs, when it is complete, how it starts and where it hands off to. */
export function ProtocolRules({ protocol }: { protocol: ProtocolRow }) {
  const t = protocolsText.useText()
  const { conditions } = useWayWords()
  const { governs, completion, startRules, registeredAt, registeredBy } = protocol
  const needed = [
    completion.requirements === 'ALL_MET' && t('facts.allMet'),
    ...conditions(completion.requiredFacts),
  ].filter((each) => each !== false)
  return (
    <>
      <section aria-label={t('facts.governs')}>
        <h3>{t('facts.governs')}</h3>
        {governs.length === 0 ? (
          <p className="mute">{t('facts.governsNothing')}</p>
        ) : (
          <>
            <ul className="rule-list">
              {governs.map((action) => (
                <li key={action}>
                  <code>{action}</code>
                </li>
              ))}
            </ul>
            <p className="mute">{t('facts.governsHint')}</p>
          </>
        )}
      </section>
      <section aria-label={t('facts.completion')}>
        <h3>{t('facts.completion')}</h3>
        {needed.length === 0 ? (
          <p className="mute">{t('facts.noCondition')}</p>
        ) : (
          <>
            <ul className="rule-list">
              {needed.map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
            <p className="mute">{t(completion.strict ? 'facts.strict' : 'facts.notStrict')}</p>
          </>
        )}
      </section>
      <section aria-label={t('facts.start')}>
        <h3>{t('facts.start')}</h3>
        {startRules.length === 0 ? (
          <p className="mute">{t('facts.startNever')}</p>
        ) : (
          <StartRules rules={startRules} />
        )}
      </section>
      <dl className="rule-facts">
        <dt>{t('facts.handoff')}</dt>
        <dd>
          <HandoffTargets targets={protocol.handoffTo} />
        </dd>
        <dt>{t('facts.extraction')}</dt>
        <dd>{t(protocol.extraction ? 'facts.extracted' : 'facts.notExtracted')}</dd>
        <dt>{t('facts.stale')}</dt>
        <dd>{t(`facts.stale${protocol.staleIntent}`)}</dd>
        <dt>{t('facts.registered')}</dt>
        <dd>
          {registeredAt ? (
            <>
              <Timestamp at={registeredAt} ledger />
              {registeredBy && ` ${t('list.by', { name: registeredBy.name })}`}
            </>
          ) : (
            t('facts.builtIn')
          )}
        </dd>
      </dl>
    </>
  )
}

function HandoffTargets({ targets }: { targets: readonly string[] | null }) {
  const t = protocolsText.useText()
  const { slug = '' } = useParams({ strict: false })
  if (targets === null) return t('facts.handoffAny')
  if (targets.length === 0) return t('facts.handoffNone')
  return (
    <ul className="rule-list">
      {targets.map((protocolId) => (
        <li key={protocolId}>
          <Link className="link" to="/p/$slug/protocols/$protocolId" params={{ slug, protocolId }}>
            {protocolId}
          </Link>
        </li>
      ))}
    </ul>
  )
}
