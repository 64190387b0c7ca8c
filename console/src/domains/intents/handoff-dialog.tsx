import { Button, Checkbox, Group, Modal, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { issueOf } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { MovedNotice } from './moved-notice.tsx'
import { ProtocolSelect } from './protocol-select.tsx'
import type { TaskDialogProps } from './task-dialogs.tsx'
import { HandoffProtocol } from './task-queries.ts'
import { taskText } from './text.ts'

/** To another protocol: of the live run by the segment that was seen, between runs by the task that was seen. */
export function HandoffDialog({ session, projectId, onClose, onChanged }: TaskDialogProps) {
  const t = taskText.useText()
  const words = kitText.useText()
  const command = useCommand(HandoffProtocol)
  const [seen, setSeen] = useState({ segment: session.activeRun?.segment ?? null, intent: session.intent })
  const [to, setTo] = useState('')
  const [reason, setReason] = useState('')
  const [overrides, setOverrides] = useState(false)
  const [goals, setGoals] = useState<readonly string[]>([])
  const from = seen.segment?.protocol ?? seen.intent?.protocol ?? ''
  const ready = to !== '' && reason.trim() !== ''

  const submit = async () => {
    const outcome = await command.run({
      input: {
        sessionId: session.id,
        to,
        reason: reason.trim(),
        ...(seen.segment
          ? { expectedSegmentRevision: seen.segment.revision }
          : { expectedHeadId: seen.intent?.id ?? null }),
        ...(overrides && { overrideStrict: true }),
      },
    })
    onChanged()
    if (outcome.ok) onClose()
    else if (outcome.problem.code === 'STRICT_GOALS_OPEN') setGoals(outcome.problem.open ?? [])
    // A step of the agent between the look and the click is no reason to type everything again.
    else if (outcome.problem.code === 'SEGMENT_REVISION_CONFLICT')
      setSeen({ segment: session.activeRun?.segment ?? null, intent: session.intent })
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('handoff.title')}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) void submit()
        }}
      >
        <p className="mute">
          {t('handoff.now', { protocol: from })}
          {seen.segment && ` · ${seen.segment.phase}`}
        </p>
        <ProtocolSelect
          projectId={projectId}
          label={t('handoff.to')}
          value={to}
          first={{ value: '', label: '–' }}
          without={from.slice(0, from.lastIndexOf('@'))}
          error={issueOf(command.problem, 'to')}
          onChange={setTo}
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
        {goals.length > 0 && (
          <div className="task-notice">
            <p>{t('handoff.goals')}</p>
            <ul className="task-goals">
              {goals.map((goal) => (
                <li key={goal} dir="auto">
                  {goal}
                </li>
              ))}
            </ul>
            <Checkbox
              label={t('handoff.override')}
              description={t('handoff.overrideHint')}
              checked={overrides}
              onChange={(event) => setOverrides(event.currentTarget.checked)}
            />
          </div>
        )}
        <p className="mute">
          {session.activeRun ? t('handoff.live', { number: session.activeRun.number }) : t('handoff.between')}
        </p>
        <MovedNotice
          problem={command.problem}
          base={seen.intent}
          head={session.intent}
          onUse={() => {
            setSeen({ segment: session.activeRun?.segment ?? null, intent: session.intent })
            command.clear()
          }}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {words('cancel')}
          </Button>
          <Button type="submit" disabled={!ready} loading={command.busy}>
            {t('handoff.submit')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
