import { ActionIcon, Button, Checkbox, Group, Modal, Radio, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { issueOf } from '../../kit/problem-notice.tsx'
import { kitText } from '../../kit/text.ts'
import { MovedNotice } from './moved-notice.tsx'
import { ProtocolSelect } from './protocol-select.tsx'
import type { TaskDialogProps } from './task-dialogs.tsx'
import { CorrectIntent, type RevisionView } from './task-queries.ts'
import { taskText } from './text.ts'

const LONGEST = 2_000
interface Line {
  key: number
  text: string
}

/** What was typed, as a correction of a revision: only what differs from it is said. */
function changesOf(
  base: RevisionView | null,
  form: { text: string; lines: Line[]; protocol: string; newTask: boolean },
) {
  const text = form.text.trim()
  const requirements = form.lines.map((line) => line.text.trim()).filter((line) => line !== '')
  const had = (base?.requirements ?? []).map((each) => each.text)
  const sameList = had.length === requirements.length && had.every((each, at) => each === requirements[at])
  return {
    ...(text !== (base?.text ?? '') && { text }),
    ...(!sameList && { requirements }),
    ...(form.protocol !== (base?.protocol ?? '') && { protocol: form.protocol }),
    ...(form.newTask && { newTask: true }),
  }
}

export function CorrectDialog({ session, projectId, onClose, onChanged }: TaskDialogProps) {
  const t = taskText.useText()
  const words = kitText.useText()
  const command = useCommand(CorrectIntent)
  const live = session.activeRun
  // What was seen when the form opened is what is corrected: another head by then is a conflict, never overwritten.
  const [base, setBase] = useState(session.intent)
  const [text, setText] = useState(base?.text ?? '')
  const [lines, setLines] = useState<Line[]>(() =>
    (base?.requirements ?? []).map((each, key) => ({ key, text: each.text })),
  )
  const [next, setNext] = useState(lines.length)
  const [protocol, setProtocol] = useState(base?.protocol ?? '')
  const [newTask, setNewTask] = useState(false)
  const [note, setNote] = useState('')
  const [scope, setScope] = useState<'LIVE_RUN' | 'NEXT_TURN'>('LIVE_RUN')
  const changes = changesOf(base, { text, lines, protocol, newTask })
  const changed = Object.keys(changes).length > 0
  const ready = changed && text.trim() !== '' && note.trim() !== ''

  const submit = async () => {
    const outcome = await command.run({
      input: {
        sessionId: session.id,
        expectedHeadId: base?.id ?? null,
        note: note.trim(),
        applyTo: live ? scope : null,
        ...changes,
      },
    })
    onChanged()
    if (outcome.ok) onClose()
  }
  const edit = (key: number, value: string) =>
    setLines(lines.map((line) => (line.key === key ? { key, text: value } : line)))
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={base ? t('correct.title') : t('correct.first')}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) void submit()
        }}
      >
        <Textarea
          label={t('correct.text')}
          value={text}
          required
          autosize
          minRows={2}
          maxRows={8}
          maxLength={LONGEST}
          data-autofocus
          error={issueOf(command.problem, 'text')}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <fieldset className="task-lines">
          <legend>{t('correct.requirements')}</legend>
          {lines.map(({ key, text: line }, at) => (
            <div key={key} className="task-row">
              <Textarea
                aria-label={t('correct.requirement', { number: at + 1 })}
                value={line}
                autosize
                minRows={1}
                maxRows={4}
                maxLength={LONGEST}
                onChange={(event) => edit(key, event.currentTarget.value)}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('correct.remove', { number: at + 1 })}
                onClick={() => setLines(lines.filter((each) => each.key !== key))}
              >
                ×
              </ActionIcon>
            </div>
          ))}
          <Group gap="xs">
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => {
                setLines([...lines, { key: next, text: '' }])
                setNext(next + 1)
              }}
            >
              {t('correct.add')}
            </Button>
            {base && base.requirements.length > 0 && <small className="mute">{t('correct.keeps')}</small>}
          </Group>
        </fieldset>
        <ProtocolSelect
          projectId={projectId}
          label={t('correct.protocol')}
          value={protocol}
          first={base ? { value: base.protocol, label: base.protocol } : undefined}
          error={issueOf(command.problem, 'protocol')}
          onChange={setProtocol}
        />
        {base && (
          <Checkbox
            label={t('correct.newTask')}
            description={t('correct.newTaskHint')}
            checked={newTask}
            onChange={(event) => setNewTask(event.currentTarget.checked)}
          />
        )}
        <Textarea
          label={t('correct.note')}
          description={t('correct.noteHint')}
          value={note}
          required
          autosize
          minRows={1}
          maxRows={4}
          maxLength={LONGEST}
          error={issueOf(command.problem, 'note')}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        {live && (
          <Radio.Group
            label={t('correct.scope')}
            value={scope}
            onChange={(value) => setScope(value === 'NEXT_TURN' ? 'NEXT_TURN' : 'LIVE_RUN')}
          >
            <Stack gap={8} mt={6}>
              <Radio value="LIVE_RUN" label={t('correct.LIVE_RUN', { number: live.number })} />
              <Radio value="NEXT_TURN" label={t('correct.NEXT_TURN')} />
            </Stack>
          </Radio.Group>
        )}
        <MovedNotice
          problem={command.problem}
          base={base}
          head={session.intent}
          onUse={() => {
            setBase(session.intent)
            command.clear()
          }}
        />
        <Group justify="flex-end" gap="xs">
          {!changed && <small className="mute">{t('correct.unchanged')}</small>}
          <Button variant="default" onClick={onClose}>
            {words('cancel')}
          </Button>
          <Button type="submit" disabled={!ready} loading={command.busy}>
            {t('correct.submit')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
