import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { useNow } from '../../kit/now.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { exactDuration, shortDuration } from '../../kit/time.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { useProject, useViewer } from '../../shell/viewer.ts'
import { ApprovalActions } from '../runs/approval-actions.tsx'
import { ApprovalState, deadlineText, useDecisionName } from '../runs/approval-words.tsx'
import { Fact } from '../runs/facts.tsx'
import { runText } from '../runs/text.ts'
import { itemMark } from './inbox-groups.ts'
import type { InboxItem } from './inbox-query.ts'
import { ItemCommands } from './item-commands.tsx'
import { inboxText } from './text.ts'

export type Wait = {
  waiter: string
  waitsFor: string
  since: string
  until: string | null
  reason: string
  waitsForNode: { id: string } | null
  waiterNode: { id: string } | null
}

type InboxPaneProps = {
  item: InboxItem | undefined
  waits: readonly Wait[]
  onDone: () => void
  onBack: () => void
}

/** The open item: what it asks and why, what happens without an answer, and every answer one key away. */
export function InboxPane({ item, waits, onDone, onBack }: InboxPaneProps) {
  const t = inboxText.useText()
  return (
    <aside className="inbox-pane" aria-label={t('pane.label')}>
      <Button className="inbox-back" size="compact-xs" variant="default" onClick={onBack}>
        ← {t('pane.back')}
      </Button>
      {item ? <ItemDetail item={item} onDone={onDone} /> : <p className="mute">{t('pane.none')}</p>}
      <Waits waits={waits} />
    </aside>
  )
}

function ItemDetail({ item, onDone }: { item: InboxItem; onDone: () => void }) {
  const t = inboxText.useText()
  const project = useProject()
  const navigate = useNavigate()
  const { session, run, approval } = item
  const open = useRef(() => {})
  open.current = () => {
    if (session)
      void navigate({
        to: '/p/$slug/sessions/$sessionId',
        params: { slug: project.slug, sessionId: session.id },
      })
  }
  useKeys(
    t('keys.title'),
    useMemo<KeyBinding[]>(() => [{ keys: 'enter', label: t('keys.open'), run: () => open.current() }], [t]),
  )
  return (
    <>
      <ItemState item={item} />
      <h1 className="inbox-title">{item.title}</h1>
      <dl className="facts">
        {session && (
          <Fact label={approval ? t('pane.askedBy') : t('pane.from')}>
            {run &&
              `${[run.runtime?.name, t('pane.runOf', { number: run.number })].filter(Boolean).join(', ')} `}
            <Link
              className="link"
              to="/p/$slug/sessions/$sessionId"
              params={{ slug: project.slug, sessionId: session.id }}
            >
              {session.title}
            </Link>
          </Fact>
        )}
        {session?.intent && <Fact label={t('pane.task')}>{session.intent.text}</Fact>}
        {run && <Fact label={t('pane.protocol')}>{run.route.protocol}</Fact>}
        <Fact label={approval ? t('pane.why') : t('pane.whyLook')}>{item.why}</Fact>
        {item.state === 'OPEN' && <Fact label={t('pane.ifIgnored')}>{item.ifIgnored}</Fact>}
        <Deadline item={item} />
        <Failure item={item} />
        <Fact label={t('pane.since')}>
          <Timestamp at={item.since} ledger />
        </Fact>
        <Fact label={t('pane.assignee')}>
          {item.assignee?.name ?? <span className="mute">{t('pane.nobody')}</span>}
        </Fact>
      </dl>
      {approval && <Payload payload={approval.payload} />}
      {approval?.state === 'OPEN' && item.state === 'OPEN' && (
        <ApprovalActions approval={approval} keys stacked onAnswered={onDone} />
      )}
      <ItemCommands item={item} onDone={onDone} />
    </>
  )
}

function ItemState({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const run = runText.useText()
  const { language } = usePreferences()
  const now = useNow(1_000)
  if (item.approval) return <ApprovalState approval={item.approval} />
  const word = item.state === 'OPEN' ? t(`kind.${item.kind}`) : t(`state.${item.state}`)
  const age = exactDuration(now - Date.parse(item.since), language)
  return (
    <StateMark kind={itemMark(item)}>
      <span className="num">
        {[word, item.run && run('run', { number: item.run.number }), item.state === 'OPEN' && age]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </StateMark>
  )
}

function Deadline({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const run = runText.useText()
  const chosen = usePreferences()
  const now = useNow(1_000)
  const name = useDecisionName()
  if (item.deadline === null || item.state !== 'OPEN') return null
  const left = Date.parse(item.deadline) - now
  return (
    <Fact label={t('pane.deadline')}>
      <span className="num">
        {deadlineText(item.deadline, now, shownTimeZone(chosen))}
        {left > 0 && ` · ${run('approval.timeLeft', { left: exactDuration(left, chosen.language) })}`}
        {item.defaultDecision !== null && ` · ${name(item.defaultDecision)}`}
      </span>
    </Fact>
  )
}

function Failure({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const words = runText.useText()
  const { run } = item
  if (!run || item.approval) return null
  return (
    <Fact label={t('pane.effects')}>
      {words(`effects.${run.effects}`)}
      {run.failureCode && (
        <>
          {' · '}
          <code>{run.failureCode}</code>
        </>
      )}
    </Fact>
  )
}

/** The whole of what is asked for. SQL, commands and other text keep their lines; the rest is JSON. */
function Payload({ payload }: { payload: unknown }) {
  const text = payloadText(payload)
  return text === '' ? null : <pre className="inbox-payload mono">{text}</pre>
}

function payloadText(payload: unknown): string {
  if (typeof payload === 'string') return payload
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload))
    return JSON.stringify(payload, null, 2)
  return Object.entries(payload)
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`
    })
    .join('\n')
}

function Waits({ waits }: { waits: readonly Wait[] }) {
  const t = inboxText.useText()
  const viewer = useViewer()
  const { language } = usePreferences()
  const now = useNow()
  return (
    <section className="inbox-waits" aria-label={t('waits.title')}>
      <h2>{t('waits.title')}</h2>
      {waits.length === 0 && <p className="mute">{t('waits.none')}</p>}
      {waits.map((wait) => (
        <div key={`${wait.waiter}/${wait.waitsFor}/${wait.since}`} className="inbox-wait" title={wait.reason}>
          <span className="truncate">{wait.waiter}</span>
          <span aria-hidden="true">→</span>
          <span className="truncate">
            {wait.waitsForNode?.id === viewer.id ? t('waits.you') : wait.waitsFor}
          </span>
          <span className="mute num">{shortDuration(now - Date.parse(wait.since), language)}</span>
        </div>
      ))}
    </section>
  )
}
