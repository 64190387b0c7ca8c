import { Button, Group, Modal, NativeSelect, Textarea } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { ProtocolSelect } from './protocol-select.tsx'
import type { TaskRun } from './task-dialog.ts'
import type { TaskDialogProps } from './task-dialogs.tsx'
import { RebindRun, RerouteRun, RevertIntent, type RevisionView } from './task-queries.ts'
import { taskText } from './text.ts'

const RevisionDiff = lazy(() =>
  import('./revision-diff.tsx').then(({ RevisionDiff }) => ({ default: RevisionDiff })),
)
const relations = ['CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT'] as const
type Relation = (typeof relations)[number]

export function RevertDialog({ session, to, onClose, onChanged }: TaskDialogProps & { to: RevisionView }) {
  const t = taskText.useText()
  const command = useCommand(RevertIntent)
  const [head] = useState(session.intent)
  const confirm = async (note: string) => {
    const outcome = await command.run({
      input: { sessionId: session.id, expectedHeadId: head?.id ?? null, toRevisionId: to.id, note },
    })
    onChanged()
    if (outcome.ok) onClose()
  }
  return (
    <Confirm
      opened
      reason="required"
      onClose={onClose}
      title={t('revert.title', { number: to.number })}
      verb={t('revert.submit')}
      busy={command.busy}
      problem={command.problem}
      onConfirm={(note) => void confirm(note)}
    >
      <p>{t('revert.body', { number: to.number })}</p>
      {session.activeRun && <p>{t('revert.live', { number: session.activeRun.number })}</p>}
      {head && (
        <Suspense fallback={null}>
          <RevisionDiff before={head} after={to} />
        </Suspense>
      )}
    </Confirm>
  )
}

export function RebindDialog({
  session,
  run,
  onClose,
  onChanged,
}: TaskDialogProps & { run: { id: string; number: number } }) {
  const t = taskText.useText()
  const command = useCommand(RebindRun)
  const [head] = useState(session.intent)
  if (!head) return null
  const confirm = async (note: string) => {
    const outcome = await command.run({ input: { runId: run.id, revisionId: head.id, note } })
    onChanged()
    if (outcome.ok) onClose()
  }
  return (
    <Confirm
      opened
      reason="required"
      onClose={onClose}
      title={t('rebind.title', { number: run.number, head: head.number })}
      verb={t('rebind.submit')}
      busy={command.busy}
      problem={command.problem}
      onConfirm={(note) => void confirm(note)}
    >
      <p dir="auto">{t('rebind.body', { text: head.text })}</p>
    </Confirm>
  )
}

export function RerouteDialog({ projectId, run, onClose, onChanged }: TaskDialogProps & { run: TaskRun }) {
  const t = taskText.useText()
  const words = kitText.useText()
  const command = useCommand(RerouteRun)
  const key = useIdempotencyKey()
  const [relation, setRelation] = useState(run.route.relation as Relation)
  const [protocol, setProtocol] = useState('')
  const [reason, setReason] = useState('')
  const ready = reason.trim() !== '' && (relation !== run.route.relation || protocol !== '')
  const submit = async () => {
    const input = {
      runId: run.id,
      expectedRouteId: run.route.id,
      reason: reason.trim(),
      ...(relation !== run.route.relation && { relation }),
      ...(protocol !== '' && { protocol }),
    }
    const outcome = await command.run({ input: { ...input, idempotencyKey: key.keyFor(input) } })
    onChanged()
    if (outcome.ok) onClose()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('reroute.title', { number: run.number })}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) void submit()
        }}
      >
        <p className="mute">{t('reroute.body')}</p>
        <NativeSelect
          label={t('reroute.relation')}
          value={relation}
          data-autofocus
          error={issueOf(command.problem, 'relation')}
          onChange={(event) => setRelation(event.currentTarget.value as Relation)}
        >
          {relations.map((each) => (
            <option key={each} value={each}>
              {t(`reroute.is.${each}`)}
            </option>
          ))}
        </NativeSelect>
        <ProtocolSelect
          projectId={projectId}
          label={t('reroute.protocol')}
          value={protocol}
          first={{ value: '', label: t('reroute.asFits') }}
          error={issueOf(command.problem, 'protocol')}
          onChange={setProtocol}
        />
        <Textarea
          label={t('handoff.reason')}
          value={reason}
          required
          autosize
          minRows={2}
          maxRows={5}
          maxLength={2_000}
          error={issueOf(command.problem, 'reason')}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ProblemNotice problem={command.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {words('cancel')}
          </Button>
          <Button type="submit" disabled={!ready} loading={command.busy}>
            {t('reroute.submit')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
