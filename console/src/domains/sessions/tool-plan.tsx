import type { RunView, SessionView } from './session-query.ts'
import { sessionText } from './text.ts'
import './tool-plan.css'

type ToolPlan = NonNullable<SessionView['activeRun']>['toolPlan']
type Entry = ToolPlan['entries'][number]

export const isUsable = ({ exposed, status }: Entry) => exposed && status === 'AVAILABLE'

/** The tools of a run by family: each with what holds for it now and, opened, how it came to that. */
export function ToolPlanList({
  entries,
  segment,
}: {
  entries: readonly Entry[]
  segment: RunView['segment']
}) {
  const t = sessionText.useText()
  const groups = [...new Set(entries.map(({ group }) => group))]
  return groups.map((group) => (
    <section key={group} className="tool-group" aria-label={t(`tools.group.${group}`)}>
      <h3>{t(`tools.group.${group}`)}</h3>
      {entries
        .filter((entry) => entry.group === group)
        .map((entry) => (
          <details
            key={`${entry.server}/${entry.name}`}
            className="tool-entry"
            data-off={!isUsable(entry) || undefined}
          >
            <summary>
              <span className="mono truncate" title={entry.name}>
                {entry.name}
              </span>
              <span className="mute truncate">
                <Standing entry={entry} phase={segment?.phase} />
              </span>
            </summary>
            <p className="mute">
              <code>{entry.action}</code>
              {' · '}
              {entry.server === null ? entry.source : `${entry.source}, ${entry.server}`}
            </p>
            <ul>
              {entry.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </details>
        ))}
    </section>
  ))
}

function Standing({ entry, phase }: { entry: Entry; phase: string | undefined }) {
  const t = sessionText.useText()
  if (!entry.exposed) return t('tools.hidden')
  if (entry.status === 'AVAILABLE') return t('aside.available')
  if (entry.handoffTo !== null) return t('tools.handoff', { protocol: entry.handoffTo })
  return phase === undefined ? t('tools.off') : t('tools.notInPhase', { phase })
}
