import { Button, Textarea } from '@mantine/core'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { graphql, ProblemFields } from '../../data/graphql.ts'
import { useCommand } from '../../data/outcome.ts'
import { useKeys } from '../../kit/keys.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { permission } from '../runs/allowed.ts'
import { isLive } from '../runs/run-state.ts'
import { SteerRun } from '../runs/steer-run.ts'
import { runText } from '../runs/text.ts'
import { OpenSession } from './commands.ts'
import type { SessionView } from './session-query.ts'
import { sessionText } from './text.ts'

const SubmitTurn = graphql(
  `
  mutation SubmitTurn($input: SubmitTurnInput!) {
    submitTurn(input: $input) {
      __typename
      ... on SubmitTurnSuccess { run { id number state } cursor }
      ...ProblemFields
    }
  }
`,
  [ProblemFields],
)

const draftKey = (sessionId: string) => `wheelhouse.draft.${sessionId}`

/** What is typed survives a reload, a refusal and a change of page. */
function useDraft(sessionId: string) {
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey(sessionId)) ?? '')
  const change = (next: string) => {
    setText(next)
    if (next === '') sessionStorage.removeItem(draftKey(sessionId))
    else sessionStorage.setItem(draftKey(sessionId), next)
  }
  return [text, change] as const
}

/**
 * Send or Steer: the button names which of the two it does and to which run. The target is fixed while
 * something is typed: when that run ends meanwhile nothing is sent and the page says so.
 */
export function Composer({ session, onChanged }: { session: SessionView; onChanged: () => void }) {
  const t = sessionText.useText()
  const run = runText.useText()
  const [text, setText] = useDraft(session.id)
  const submit = useCommand(SubmitTurn)
  const steer = useCommand(SteerRun)
  const field = useRef<HTMLTextAreaElement>(null)
  const live = session.activeRun && isLive(session.activeRun.state) ? session.activeRun : null
  const [target, setTarget] = useState<{ id: string; number: number } | null>(null)
  const empty = text.trim() === ''
  useEffect(() => {
    if (empty) setTarget(live ? { id: live.id, number: live.number } : null)
  }, [empty, live])
  const ended = target !== null && target.id !== live?.id
  const mayParallel = live !== null && permission(session.allowedActions, 'submitTurn').is === 'allowed'
  // One key per text and target: a second press, or a retry after a lost answer, sends once.
  const attempt = useRef<{ for: string; key: string }>(undefined)
  const keyFor = (what: string) => {
    if (attempt.current?.for !== what) attempt.current = { for: what, key: crypto.randomUUID() }
    return attempt.current.key
  }
  const blocked = useRef(false)
  const send = async () => {
    const body = text.trim()
    if (empty || blocked.current || submit.busy || steer.busy) return
    const idempotencyKey = keyFor(`${target?.id ?? 'turn'}/${body}`)
    const outcome =
      target === null
        ? await submit.run({
            input: {
              sessionId: session.id,
              text: body,
              expectedGeneration: session.generation,
              idempotencyKey,
            },
          })
        : await steer.run({ input: { runId: target.id, text: body, idempotencyKey } })
    if (!outcome.ok) return
    attempt.current = undefined
    setText('')
    onChanged()
  }
  useKeys(
    t('keys.session'),
    useMemo(() => [{ keys: 'c', label: t('keys.compose'), run: () => field.current?.focus() }], [t]),
  )

  if (session.state === 'CLOSED') return <ClosedNotice session={session} onChanged={onChanged} />
  const may =
    target === null
      ? permission(session.allowedActions, 'submitTurn')
      : permission(live?.allowedActions, 'steerRun')
  if (may.is === 'hidden' && !ended)
    return <p className="composer-note mute">{t('composer.cannot', { reason: t('composer.readOnly') })}</p>
  blocked.current = ended || may.is === 'refused'
  const problem = submit.problem ?? steer.problem
  const number = target?.number ?? session.runCount + 1
  return (
    <form
      className="composer"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void send()
      }}
    >
      {ended && (
        <p className="composer-ended" role="alert">
          {t('composer.ended', { number: target.number })}{' '}
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => setTarget(live ? { id: live.id, number: live.number } : null)}
          >
            {live ? run('run', { number: live.number }) : t('composer.newRun')}
          </Button>
        </p>
      )}
      {may.is === 'refused' && !ended && (
        <p className="mute">{t('composer.cannot', { reason: may.reason })}</p>
      )}
      <ProblemNotice problem={problem} />
      <Textarea
        ref={field}
        aria-label={t('composer.label')}
        variant="unstyled"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={32_000}
        placeholder={target === null ? t('composer.sendPlaceholder') : t('composer.steerPlaceholder')}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          submit.clear()
          steer.clear()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <div className="composer-foot">
        <small className="mute" aria-live="polite">
          {target === null ? t('composer.sendHint', { number }) : t('composer.steerHint', { number })}
        </small>
        <span className="grow" />
        {mayParallel && (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => setTarget(target === null ? { id: live.id, number: live.number } : null)}
          >
            {target === null ? t('composer.thatRun', { number: live.number }) : t('composer.newRun')}
          </Button>
        )}
        <Button
          type="submit"
          loading={submit.busy || steer.busy}
          disabled={empty || ended || may.is === 'refused'}
          rightSection={<kbd>⏎</kbd>}
          title={t('composer.shortcut')}
        >
          {target === null ? t('composer.send') : t('composer.steer')}
        </Button>
      </div>
    </form>
  )
}

function ClosedNotice({ session, onChanged }: { session: SessionView; onChanged: () => void }) {
  const t = sessionText.useText()
  const open = useCommand(OpenSession)
  const may = permission(session.allowedActions, 'openSession')
  return (
    <div className="composer-note">
      <ProblemNotice problem={open.problem} />
      <span className="mute">{t('composer.closed')}</span>{' '}
      {may.is === 'allowed' && (
        <Button
          size="compact-xs"
          variant="default"
          loading={open.busy}
          onClick={async () => {
            const input = { sessionId: session.id, expectedGeneration: session.generation }
            if ((await open.run({ input })).ok) onChanged()
          }}
        >
          {t('composer.open')}
        </Button>
      )}
    </div>
  )
}
