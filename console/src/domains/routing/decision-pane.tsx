import { CloseButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { copyText } from '../../kit/copy-text.ts'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { useProject } from '../../shell/viewer.ts'
import { DecisionSteps } from './decision-steps.tsx'
import { readEvidence } from './evidence.ts'
import { RouteDecisionById, type RouteRow } from './queries.ts'
import type { RoutingSearch } from './search.ts'
import { routingText } from './text.ts'
import { reasonWords, warningWords } from './words.ts'

type DecisionPaneProps = {
  id: string
  /** As the list has it; read by its id where it has not. */
  row: RouteRow | undefined
  onFilter: (change: RoutingSearch) => void
  onClose: () => void
}

/** One decision with all that it was made from. */
export function DecisionPane({ id, row, onFilter, onClose }: DecisionPaneProps) {
  const t = routingText.useText()
  const kit = kitText.useText()
  const [{ data, fetching }] = useQuery({
    query: RouteDecisionById,
    variables: { id },
    pause: row !== undefined,
  })
  const node = data?.node
  const decision = row ?? (node?.__typename === 'RouteDecision' ? node : undefined)
  return (
    <aside className="peek" aria-label={t('pane.title')}>
      <header>
        <h2>{t('pane.title')}</h2>
        <CloseButton size="sm" aria-label={kit('close')} onClick={onClose} />
      </header>
      {decision ? (
        <Decision decision={decision} onFilter={onFilter} />
      ) : fetching ? (
        <AppPending />
      ) : (
        <p className="mute">{t('pane.none')}</p>
      )}
    </aside>
  )
}

type DecisionProps = { decision: RouteRow; onFilter: (change: RoutingSearch) => void }

function Decision({ decision, onFilter }: DecisionProps) {
  const t = routingText.useText()
  const { relation, protocol, source, session, run } = decision
  const copyLink = async () => {
    await copyText(location.href)
    notifications.show({ message: t('pane.copied') })
  }
  return (
    <>
      {run ? (
        <blockquote className="route-message">{run.message.text}</blockquote>
      ) : (
        <p className="mute">{t('pane.noMessage')}</p>
      )}
      <DecisionFacts decision={decision} />
      <DecisionSteps decision={decision} />
      <div className="peek-filters">
        <button type="button" className="link-button" onClick={() => onFilter({ session: session.id })}>
          {t('pane.onlySession')}
        </button>
        <button type="button" className="link-button" onClick={() => onFilter({ relations: [relation] })}>
          {t('pane.onlyRelation')}
        </button>
        <button type="button" className="link-button" onClick={() => onFilter({ protocol })}>
          {t('pane.onlyProtocol')}
        </button>
        <button type="button" className="link-button" onClick={() => onFilter({ sources: [source] })}>
          {t('pane.onlySource')}
        </button>
        <button type="button" className="link-button" onClick={() => void copyLink()}>
          {t('pane.copyLink')}
        </button>
      </div>
    </>
  )
}

function DecisionFacts({ decision }: { decision: RouteRow }) {
  const t = routingText.useText()
  const { slug } = useProject()
  const { run, session, corrects, decidedBy, protocol, warnings } = decision
  const { reason } = readEvidence(decision.evidence)
  return (
    <dl>
      <dt>{t('relation')}</dt>
      <dd>{t(`relations.${decision.relation}`)}</dd>
      <dt>{t('protocol')}</dt>
      <dd>
        <ProtocolLink name={protocol} />
      </dd>
      <dt>{t('target')}</dt>
      <dd>{t(`targets.${decision.target}`)}</dd>
      <dt>{t('source')}</dt>
      <dd>{t(`sources.${decision.source}`)}</dd>
      <dt>{t('pane.why')}</dt>
      <dd>
        {decision.reasons.map((code) => (
          <div key={code}>
            {reasonWords(code)} <code className="faint">{code}</code>
          </div>
        ))}
        {reason && <div className="peek-words">{reason}</div>}
      </dd>
      {warnings.length > 0 && (
        <>
          <dt>{t('warnings')}</dt>
          <dd>
            {warnings.map((code) => (
              <div key={code}>
                <span className="route-warnings">{warningWords(code)}</span>{' '}
                <code className="faint">{code}</code>
              </div>
            ))}
          </dd>
        </>
      )}
      {decidedBy && (
        <>
          <dt>{t('pane.by')}</dt>
          <dd>{decidedBy.name}</dd>
        </>
      )}
      {corrects && (
        <>
          <dt>{t('pane.corrects')}</dt>
          <dd>
            <Link className="link" to="/p/$slug/routing" params={{ slug }} search={{ decision: corrects.id }}>
              {t('pane.correctsWords', {
                relation: t(`relations.${corrects.relation}`),
                protocol: corrects.protocol,
              })}
            </Link>
          </dd>
        </>
      )}
      <dt>{t('pane.session')}</dt>
      <dd>
        <Link className="link" to="/p/$slug/sessions/$sessionId" params={{ slug, sessionId: session.id }}>
          {session.title}
        </Link>
        {run && (
          <>
            {' · '}
            <Link
              className="link num"
              to="/p/$slug/sessions/$sessionId"
              params={{ slug, sessionId: session.id }}
              search={{ event: run.message.sequence }}
            >
              {t('pane.run', { number: run.number })}
            </Link>
          </>
        )}
      </dd>
      <dt>{t('at')}</dt>
      <dd>
        <Timestamp at={decision.at} ledger />
      </dd>
    </dl>
  )
}

function ProtocolLink({ name }: { name: string }) {
  const { slug } = useProject()
  const [protocolId = name, version] = name.split('@')
  return (
    <Link
      className="link mono"
      to="/p/$slug/protocols/$protocolId"
      params={{ slug, protocolId }}
      search={version === undefined ? {} : { version: Number(version) }}
    >
      {name}
    </Link>
  )
}
