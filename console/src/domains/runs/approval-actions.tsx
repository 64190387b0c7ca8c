import { Button, Textarea } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { graphql, ProblemFields } from '../../data/graphql.ts'
import { type Problem, useCommand } from '../../data/outcome.ts'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import type { ApprovalView } from '../sessions/session-event.ts'
import { ApprovalFields } from '../sessions/session-event.ts'
import { permission } from './allowed.ts'
import './approval-actions.css'
import { SteerRun } from './steer-run.ts'
import { runText } from './text.ts'

const ResolveApproval = graphql(
  `
  mutation ResolveApproval($input: ResolveApprovalInput!) {
    resolveApproval(input: $input) {
      __typename
      ... on ResolveApprovalSuccess { approval { ...ApprovalFields } run { id state } }
      ...ProblemFields
    }
  }
`,
  [ApprovalFields, ProblemFields],
)

export type Answerable = Pick<ApprovalView, 'id' | 'kind' | 'options' | 'allowedActions' | 'run'>

type ApprovalActionsProps = {
  approval: Answerable
  /** Binds A, D, ⇧A or 1–8 to this approval; only one on a page may have them. */
  keys: boolean
  /** The inbox pane stacks its answers, a gate in the timeline sets them side by side. */
  stacked?: boolean
  onAnswered?: (() => void) | undefined
}

/** The answers that this approval offers, each one key away. */
export function ApprovalActions({ approval, keys, stacked = false, onAnswered }: ApprovalActionsProps) {
  const t = runText.useText()
  const resolve = useCommand(ResolveApproval)
  const steer = useSteerAfterwards(approval.run.id)
  const [steering, setSteering] = useState(false)
  const may = permission(approval.allowedActions, 'resolveApproval')
  const question = approval.kind === 'QUESTION'
  // One key per ask and decision: pressing twice, or again after a lost answer, can't decide twice.
  const decide = async (decision: string, guidance?: string) => {
    const idempotencyKey = `answer/${approval.id}/${decision}`.slice(0, 128)
    const outcome = await resolve.run({ input: { approvalId: approval.id, decision, idempotencyKey } })
    if (!outcome.ok) return
    if (guidance !== undefined && !(await steer.send(guidance))) return
    setSteering(false)
    onAnswered?.()
  }
  const latest = useRef(decide)
  latest.current = decide
  const bindings = useMemo<KeyBinding[]>(() => {
    if (!keys || may.is !== 'allowed') return []
    if (question)
      return approval.options.slice(0, 8).map((option, index) => ({
        keys: String(index + 1),
        label: t('approval.option', { option }),
        run: () => void latest.current(option),
      }))
    return [
      { keys: 'a', label: t('approval.allow'), run: () => void latest.current('allow') },
      { keys: 'd', label: t('approval.deny'), run: () => void latest.current('deny') },
      { keys: 'shift+a', label: t('approval.allowAndSteer'), run: () => setSteering(true) },
    ]
  }, [keys, may.is, question, approval.options, t])
  useKeys(t('approval.keys'), bindings)

  if (may.is !== 'allowed')
    return (
      <p className="mute">
        {t('approval.notAllowed', { reason: may.is === 'refused' ? may.reason : t('approval.noCapability') })}
      </p>
    )
  return (
    <div className="approval-actions" data-stacked={stacked}>
      {question
        ? approval.options.map((option, index) => (
            <Button
              key={option}
              variant="default"
              justify={stacked ? 'space-between' : 'center'}
              rightSection={keys && index < 8 ? <kbd>{index + 1}</kbd> : null}
              disabled={resolve.busy}
              onClick={() => void decide(option)}
            >
              {option}
            </Button>
          ))
        : !steering && (
            <>
              <Button
                justify={stacked ? 'space-between' : 'center'}
                rightSection={keys ? <kbd>A</kbd> : null}
                disabled={resolve.busy}
                onClick={() => void decide('allow')}
              >
                {t('approval.allow')}
              </Button>
              {stacked && <SteerButton keys={keys} stacked onClick={() => setSteering(true)} />}
              <Button
                variant="default"
                justify={stacked ? 'space-between' : 'center'}
                rightSection={keys ? <kbd>D</kbd> : null}
                disabled={resolve.busy}
                onClick={() => void decide('deny')}
              >
                {t('approval.deny')}
              </Button>
              {!stacked && <SteerButton keys={false} onClick={() => setSteering(true)} />}
            </>
          )}
      {steering && (
        <AllowAndSteer
          number={approval.run.number}
          busy={resolve.busy || steer.busy}
          failed={steer.problem}
          onCancel={() => setSteering(false)}
          onSend={(guidance) => (steer.problem ? void steer.send(guidance) : void decide('allow', guidance))}
        />
      )}
      <ProblemNotice problem={resolve.problem} />
    </div>
  )
}

function SteerButton(props: { keys: boolean; stacked?: boolean; onClick: () => void }) {
  const t = runText.useText()
  return (
    <Button
      variant="default"
      justify={props.stacked ? 'space-between' : 'center'}
      rightSection={props.keys ? <kbd>⇧A</kbd> : null}
      onClick={props.onClick}
    >
      {t('approval.allowAndSteer')}
    </Button>
  )
}

function useSteerAfterwards(runId: string) {
  const steer = useCommand(SteerRun)
  const send = async (text: string) => (await steer.run({ input: { runId, text } })).ok
  return { send, busy: steer.busy, problem: steer.problem }
}

type AllowAndSteerProps = {
  number: number
  busy: boolean
  failed: Problem | undefined
  onCancel: () => void
  onSend: (guidance: string) => void
}

function AllowAndSteer({ number, busy, failed, onCancel, onSend }: AllowAndSteerProps) {
  const t = runText.useText()
  const words = kitText.useText()
  const [text, setText] = useState('')
  return (
    <form
      className="approval-steer"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onSend(text.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <Textarea
        label={t('approval.steerLabel')}
        description={t('approval.steerHint', { number })}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={32_000}
        autoFocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            if (text.trim() !== '') onSend(text.trim())
          }
        }}
      />
      {failed && <p role="alert">{t('approval.steerFailed')}</p>}
      <ProblemNotice problem={failed} />
      <div className="approval-actions" data-stacked={false}>
        <Button type="submit" loading={busy} disabled={text.trim() === ''}>
          {failed ? t('approval.sendGuidance') : t('approval.allowSteerSubmit')}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {words('cancel')}
        </Button>
      </div>
    </form>
  )
}
