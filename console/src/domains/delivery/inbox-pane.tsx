import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { useNow } from '../../kit/now.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { exactDuration } from '../../kit/time.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { useProject } from '../../shell/viewer.ts'
import { ApprovalActions } from '../runs/approval-actions.tsx'
import { ApprovalState, deadlineText, useDecisionName } from '../runs/approval-words.tsx'
import { Fact } from '../runs/facts.tsx'
import { runText } from '../runs/text.ts'
import { itemMark } from './inbox-groups.ts'
import type { InboxItem, Wait } from './inbox-query.ts'
import { ItemCommands } from './item-commands.tsx'
import { inboxText } from './text.ts'
import { Waits } from './waits.tsx'

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
        <Why item={item} />
        {item.state === 'OPEN' && (
          <Fact label={t('pane.ifIgnored')}>
            <IfIgnored item={item} />
          </Fact>
        )}
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

/** What the agent gives as its reason, or how a run failed; a session's own name says nothing here. */
function Why({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const { approval, session } = item
  const { reason } = (approval?.payload ?? {}) as { reason?: unknown }
  const why = typeof reason === 'string' ? reason : item.why === session?.title ? null : item.why
  return why === null ? null : <Fact label={approval ? t('pane.why') : t('pane.whyLook')}>{why}</Fact>
}

/** The server's sentence in the reader's language. */
function IfIgnored({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const name = useDecisionName()
  if (item.kind === 'RUN_FAILED' || item.kind === 'EFFECTS_UNKNOWN' || item.kind === 'RUN_UNSUPPORTED')
    return t(`ignored.${item.kind}`)
  return item.defaultDecision === null
    ? item.ifIgnored
    : t('ignored.ask', { decision: name(item.defaultDecision) })
}

function Deadline({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const run = runText.useText()
  const chosen = usePreferences()
  const now = useNow(1_000)
  if (item.deadline === null || item.state !== 'OPEN') return null
  const left = Date.parse(item.deadline) - now
  return (
    <Fact label={t('pane.deadline')}>
      <span className="num">
        {deadlineText(item.deadline, now, shownTimeZone(chosen))}
        {left > 0 && ` · ${run('approval.timeLeft', { left: exactDuration(left, chosen.language) })}`}
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
