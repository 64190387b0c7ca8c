import type { ReactNode } from 'react'
import { usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { exactDuration } from '../../kit/time.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { TaskDialog } from '../intents/task-dialog.ts'
import { TaskPanel } from '../intents/task-panel.tsx'
import { ApprovalState } from '../runs/approval-words.tsx'
import { Fact } from '../runs/facts.tsx'
import { isLive } from '../runs/run-state.ts'
import { groupedNumber } from './numbers.ts'
import type { SessionView } from './session-query.ts'
import { SessionSettings } from './session-settings.tsx'
import { sessionText } from './text.ts'
import { isUsable, ToolPlanList } from './tool-plan.tsx'

type AsideProps = {
  session: SessionView
  onChanged: () => void
  onTask: (dialog: TaskDialog) => void
  onEvent: (sequence: number) => void
}

/** What the session is about and what it works with: task, approvals, tools, usage, runtime, settings. */
export function SessionAside({ session, onChanged, onTask, onEvent }: AsideProps) {
  const t = sessionText.useText()
  return (
    <aside className="session-column session-aside" aria-label={t('aside.label')}>
      <TaskPanel session={session} onDialog={onTask} onEvent={onEvent} part={part} />
      <Approvals session={session} />
      <Tools session={session} />
      <UsagePart session={session} />
      <RuntimePart session={session} />
      <Part title={t('aside.settings')}>
        <SessionSettings session={session} onChanged={onChanged} />
      </Part>
    </aside>
  )
}

const part = (title: string, right: ReactNode, children: ReactNode) => (
  <Part title={title} right={right}>
    {children}
  </Part>
)

function Part({ title, right, children }: { title: string; right?: ReactNode; children: ReactNode }) {
  return (
    <section className="aside-part" aria-label={title}>
      <div className="aside-head">
        <h2>{title}</h2>
        {right !== undefined && <span className="mute">{right}</span>}
      </div>
      {children}
    </section>
  )
}

function Approvals({ session }: { session: SessionView }) {
  const t = sessionText.useText()
  const { approvals } = session
  return (
    <Part title={t('aside.approvals')} right={approvals.length > 0 ? approvals.length : undefined}>
      {approvals.length === 0 && <p className="mute">{t('aside.noApprovals')}</p>}
      {approvals.map((approval) => (
        <div key={approval.id} className="aside-approval">
          <ApprovalState approval={approval} />
          <div>{approval.title}</div>
        </div>
      ))}
    </Part>
  )
}

function Tools({ session }: { session: SessionView }) {
  const t = sessionText.useText()
  const run = session.activeRun ?? session.lastRun
  const entries = run?.toolPlan.entries
  if (entries === undefined) return null
  const available = entries.filter(isUsable).length
  const total = entries.length
  return (
    <Part title={t('aside.tools')} right={t('aside.toolCount', { available, total })}>
      {total === 0 && <p className="mute">{t('aside.noTools')}</p>}
      <ToolPlanList entries={entries} segment={run?.segment ?? null} />
    </Part>
  )
}

function UsagePart({ session }: { session: SessionView }) {
  const t = sessionText.useText()
  const { language } = usePreferences()
  const { usage } = session
  const counts = [
    [t('aside.input'), usage?.inputTokens],
    [t('aside.cached'), usage?.cachedTokens],
    [t('aside.output'), usage?.outputTokens],
    [t('aside.modelCalls'), usage?.modelCalls],
    [t('aside.toolCalls'), usage?.toolCalls],
  ] as const
  return (
    <Part title={t('aside.usage')}>
      <dl className="facts">
        {counts.map(([label, value]) => (
          <Fact key={label} label={label}>
            {value == null ? <Unknown /> : <span className="num">{groupedNumber(value)}</span>}
          </Fact>
        ))}
        <Fact label={t('aside.time')}>
          {usage?.milliseconds == null ? (
            <Unknown />
          ) : (
            <span className="num">{exactDuration(usage.milliseconds, language)}</span>
          )}
        </Fact>
      </dl>
    </Part>
  )
}

function Unknown() {
  return <span className="mute">–</span>
}

function RuntimePart({ session }: { session: SessionView }) {
  const t = sessionText.useText()
  const run = session.activeRun ?? session.lastRun
  const runtime = run?.runtime
  return (
    <Part title={t('aside.runtime')}>
      {!runtime && <p className="mute">{t('aside.noRuntime')}</p>}
      {runtime && (
        <p className="aside-runtime">
          <span>{runtime.name}</span>
          {runtime.state === 'CONNECTED' ? (
            <StateMark kind="running">{t('aside.connected')}</StateMark>
          ) : (
            <span className="mute">
              {t('aside.disconnected')} <Timestamp at={runtime.lastSeenAt} />
            </span>
          )}
        </p>
      )}
      {run && (
        <dl className="facts">
          <Fact label={t('aside.protocol')}>{run.route.protocol}</Fact>
          {isLive(run.state) && run.deadlineAt && (
            <Fact label={t('aside.deadline')}>
              <Timestamp at={run.deadlineAt} />
            </Fact>
          )}
        </dl>
      )}
    </Part>
  )
}
