import { useEffect } from 'react'
import { useQuery, useSubscription } from 'urql'
import { followGuide } from './guide-state.ts'
import { GuideEvents, GuideProgress } from './queries.ts'
import { projectsText } from './text.ts'
import './guide.css'

/** Three steps above the guided session, ticked off by what the server recorded. */
export function Guide({ sessionId }: { sessionId: string }) {
  const t = projectsText.useText()
  const [{ data }, refresh] = useQuery({
    query: GuideProgress,
    variables: { id: sessionId },
    requestPolicy: 'cache-and-network',
  })
  const [{ data: event }] = useSubscription({ query: GuideEvents, variables: { sessionId } })
  useEffect(() => {
    if (event) refresh({ requestPolicy: 'network-only' })
  }, [event, refresh])

  const run = data?.session?.lastRun
  const approvals = data?.session?.approvals ?? []
  const steps = [
    { key: 'running', met: run != null && run.state !== 'OFFERED' },
    { key: 'asks', met: approvals.some(({ state }) => state !== 'OPEN') },
    { key: 'done', met: run?.state === 'COMPLETED' },
  ] as const
  const current = steps.findIndex(({ met }) => !met)
  return (
    <section className="guide" aria-label={t('guide.title')}>
      <ol>
        {steps.map(({ key, met }, index) => (
          <li key={key} data-met={met} aria-current={index === current ? 'step' : undefined}>
            <span className="guide-number num">{met ? '✓' : index + 1}</span>
            <span>
              <b>{t(`guide.${key}`)}</b> <span className="mute">{t(`guide.${key}Hint`)}</span>
            </span>
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="guide-close"
        aria-label={t('guide.close')}
        onClick={() => followGuide(null)}
      >
        ×
      </button>
    </section>
  )
}
