import { useNow } from '../../kit/now.ts'
import { preferences, shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { type MarkKind, StateMark } from '../../kit/state-marks.tsx'
import { absoluteTime, clockTime, exactDuration } from '../../kit/time.ts'
import type { ApprovalView } from '../sessions/session-event.ts'
import './approval-words.css'
import { runText } from './text.ts'

const dayMs = 86_400_000

type Asked = Pick<ApprovalView, 'state' | 'createdAt' | 'expiresAt' | 'decision' | 'defaultDecision'> & {
  decidedBy?: ApprovalView['decidedBy']
}

/** How an approval stands: how long it has waited, or how it was answered and by whom. */
export function ApprovalState({ approval }: { approval: Asked }) {
  const t = runText.useText()
  const name = useDecisionName()
  if (approval.state === 'OPEN') return <Waiting since={approval.createdAt} />
  const decision = name(approval.decision ?? approval.defaultDecision)
  const kind: MarkKind = 'ended'
  if (approval.state === 'WITHDRAWN') return <StateMark kind={kind}>{t('approval.withdrawn')}</StateMark>
  if (approval.state === 'EXPIRED')
    return <StateMark kind={kind}>{t('approval.expired', { decision })}</StateMark>
  return (
    <span className="approval-state">
      <StateMark kind={approval.decision === 'deny' ? 'bad' : kind}>{decision}</StateMark>
      {approval.decidedBy && (
        <span className="mute">{t('approval.by', { name: approval.decidedBy.name })}</span>
      )}
    </span>
  )
}

function Waiting({ since }: { since: string }) {
  const t = runText.useText()
  const { language } = usePreferences()
  const now = useNow(1_000)
  const age = exactDuration(now - Date.parse(since), language)
  return (
    <StateMark kind="waiting">
      <span className="num">{t('approval.waiting', { age })}</span>
    </StateMark>
  )
}

/** "allowed", "denied", or the option as it was worded. */
export function useDecisionName(): (decision: string) => string {
  const t = runText.useText()
  return (decision) => {
    if (decision === 'allow') return t('approval.decided.allow')
    if (decision === 'deny') return t('approval.decided.deny')
    return decision
  }
}

/** What happens without an answer, with a countdown. */
export function IfIgnored({ approval }: { approval: Asked }) {
  const t = runText.useText()
  const chosen = usePreferences()
  const now = useNow(1_000)
  const left = Date.parse(approval.expiresAt) - now
  const time = deadlineText(approval.expiresAt, now, shownTimeZone(chosen))
  const decision = approval.defaultDecision
  const words =
    decision === 'deny'
      ? t('approval.ifIgnoredDeny', { time })
      : decision === 'allow'
        ? t('approval.ifIgnoredAllow', { time })
        : t('approval.ifIgnored', { time, decision })
  return (
    <span className="num">
      {words} {left > 0 && t('approval.timeLeft', { left: exactDuration(left, chosen.language) })}
    </span>
  )
}

/** "09:51" today, "2026-03-03 09:51" on another day. */
export function deadlineText(at: string, now: number, zone: string): string {
  const moment = Date.parse(at)
  const day = (at: number) => absoluteTime(at, zone).slice(0, 10)
  const clock = clockTime(moment, zone).slice(0, 5)
  const ahead = (Date.parse(day(moment)) - Date.parse(day(now))) / dayMs
  if (ahead === 0) return clock
  if (Math.abs(ahead) > 1) return absoluteTime(moment, zone).slice(0, 16)
  const words = new Intl.RelativeTimeFormat(preferences().language, { numeric: 'auto' })
  return `${words.format(ahead, 'day')} ${clock}`
}
