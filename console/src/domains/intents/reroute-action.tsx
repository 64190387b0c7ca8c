import { Button } from '@mantine/core'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import type { TaskRun } from './task-dialog.ts'
import { RerouteRun } from './task-queries.ts'
import { taskText } from './text.ts'
import './task-panel.css'

type RerouteActionProps = { run: TaskRun; onOther: () => void; onChanged: () => void }

/** Of a message that was taken as beside the task: one click makes it a part of it. */
export function RerouteAction({ run, onOther, onChanged }: RerouteActionProps) {
  const t = taskText.useText()
  const command = useCommand(RerouteRun)
  const key = useIdempotencyKey()
  const refine = async () => {
    const input = {
      runId: run.id,
      expectedRouteId: run.route.id,
      relation: 'REFINE' as const,
      reason: t('reroute.belongs'),
    }
    await command.run({ input: { ...input, idempotencyKey: key.keyFor(input) } })
    onChanged()
  }
  return (
    <div className="task-aside">
      <span className="mute">{t('aside')}</span>
      <Button size="compact-xs" variant="default" loading={command.busy} onClick={() => void refine()}>
        {t('action.makeTask')}
      </Button>
      <button type="button" className="link-button" onClick={onOther}>
        {t('action.reroute')}
      </button>
      <ProblemNotice problem={command.problem} />
    </div>
  )
}
