import { useNow } from '../../kit/now.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { shortDuration } from '../../kit/time.ts'
import { permission } from '../runs/allowed.ts'
import type { Wait } from './inbox-query.ts'
import { inboxText } from './text.ts'

/** Who waits for whom, the longest first. */
export function Waits({ waits }: { waits: readonly Wait[] }) {
  const t = inboxText.useText()
  const { language } = usePreferences()
  const now = useNow()
  return (
    <section className="inbox-waits" aria-label={t('waits.title')}>
      <h2>{t('waits.title')}</h2>
      {waits.length === 0 && <p className="mute">{t('waits.none')}</p>}
      {waits.map((wait) => (
        <div key={`${wait.waiter}/${wait.waitsFor}/${wait.since}`} className="inbox-wait" title={wait.reason}>
          <Waiter wait={wait} />
          <span aria-hidden="true">→</span>
          <WaitsFor wait={wait} />
          <span className="mute num">{shortDuration(now - Date.parse(wait.since), language)}</span>
        </div>
      ))}
    </section>
  )
}

function Waiter({ wait }: { wait: Wait }) {
  const t = inboxText.useText()
  const run = wait.waiterNode?.__typename === 'Run' ? wait.waiterNode : null
  const text = run
    ? [run.session.title, t('row.run', { number: run.number }), run.runtime?.name].filter(Boolean).join(' · ')
    : wait.waiter
  return (
    <span className="truncate" title={text}>
      {text}
    </span>
  )
}

/** Oneself where the server says that one may answer. */
function WaitsFor({ wait }: { wait: Wait }) {
  const t = inboxText.useText()
  const node = wait.waitsForNode
  const mine = node?.__typename === 'Approval' && permission(node.allowedActions, 'resolveApproval')
  const text =
    node?.__typename === 'Runtime'
      ? node.name
      : mine
        ? t(mine.is === 'allowed' ? 'waits.you' : 'waits.owner')
        : wait.waitsFor
  return <span className="truncate">{text}</span>
}
