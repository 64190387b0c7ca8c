import { readEvidence } from './evidence.ts'
import type { RouteRow } from './queries.ts'
import { routingText } from './text.ts'

/** Below these a classifier's answer does not count; as the server's schema and specification say. */
const least = { target: 0.65, protocol: 0.75, relation: 0.75 } as const

/** What was considered, how sure a classifier was, and what was looked at. */
export function DecisionSteps({ decision }: { decision: RouteRow }) {
  return (
    <>
      <Candidates candidates={decision.candidates} />
      <Classifier decision={decision} />
      <Seen evidence={decision.evidence} />
    </>
  )
}

function Candidates({ candidates }: Pick<RouteRow, 'candidates'>) {
  const t = routingText.useText()
  return (
    <section className="route-part" aria-label={t('pane.candidates')}>
      <h2>{t('pane.candidates')}</h2>
      {candidates.length === 0 && <p className="mute">{t('pane.noCandidates')}</p>}
      <ul>
        {candidates.map(({ protocol, relation, priority, reason, chosen }) => (
          <li key={`${protocol} ${relation} ${reason}`} data-chosen={chosen || undefined}>
            <span>
              <i className="route-mark" aria-hidden="true" /> <code>{protocol}</code>{' '}
              {chosen && <em>{t('pane.chosen')}</em>}
            </span>
            <span className="num mute" title={t('pane.priority')}>
              <span className="visually-hidden">{t('pane.priority')} </span>
              {priority}
            </span>
            <small className="mute">
              {t(`relations.${relation}`)} · <code>{reason}</code>
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Classifier({ decision }: { decision: RouteRow }) {
  const t = routingText.useText()
  const { classifierMilliseconds, classifierTokens, confidences } = decision
  const { answer } = readEvidence(decision.evidence)
  return (
    <section className="route-part" aria-label={t('pane.classifier')}>
      <h2>{t('pane.classifier')}</h2>
      <p className="num">
        {classifierMilliseconds === null ? (
          <span className="mute">{t('pane.notAsked')}</span>
        ) : (
          [
            t('pane.classifierTook', { milliseconds: classifierMilliseconds }),
            ...(classifierTokens === null ? [] : [t('pane.tokens', { count: classifierTokens })]),
          ].join(' · ')
        )}
      </p>
      {confidences && (
        <dl>
          {(['target', 'protocol', 'relation'] as const).map((part) => {
            const value = confidences[part]
            return (
              <div key={part} className="route-sure">
                <dt>{t(`pane.confidenceOf.${part}`)}</dt>
                <dd className="num">
                  <span className="route-bar" aria-hidden="true">
                    <i
                      style={{ width: `${Math.round(value * 100)}%` }}
                      data-low={value < least[part] || undefined}
                    />
                    <b style={{ left: `${least[part] * 100}%` }} />
                  </span>
                  {value.toFixed(2)}{' '}
                  <span className="mute">
                    {value < least[part] ? t('pane.tooLow', { least: least[part] }) : t('pane.enough')}
                  </span>
                </dd>
              </div>
            )
          })}
        </dl>
      )}
      {answer !== undefined && (
        <details>
          <summary>{t('pane.answer')}</summary>
          <pre>{JSON.stringify(answer, null, 2)}</pre>
        </details>
      )}
    </section>
  )
}

function Seen({ evidence }: { evidence: unknown }) {
  const t = routingText.useText()
  const { task, lastUserMessage, lastAssistantMessage, looked, rest } = readEvidence(evidence)
  const hasRest = Object.keys(rest).length > 0
  if (!looked && !hasRest) return null
  return (
    <section className="route-part" aria-label={t('pane.seen')}>
      <h2>{t('pane.seen')}</h2>
      {looked && (
        <>
          <Quote
            title={task ? t('pane.task', { number: task.number, protocol: task.protocol }) : t('pane.noTask')}
          >
            {task?.text}
          </Quote>
          {lastUserMessage && <Quote title={t('pane.lastUser')}>{lastUserMessage}</Quote>}
          {lastAssistantMessage && <Quote title={t('pane.lastAssistant')}>{lastAssistantMessage}</Quote>}
          <p className="mute">{t('pane.seenHint')}</p>
        </>
      )}
      {hasRest && (
        <details>
          <summary>{t('pane.other')}</summary>
          <pre>{JSON.stringify(rest, null, 2)}</pre>
        </details>
      )}
    </section>
  )
}

function Quote({ title, children }: { title: string; children: string | undefined }) {
  return (
    <div className="route-quote">
      <p className="mute">{title}</p>
      {children && <blockquote>{children}</blockquote>}
    </div>
  )
}
