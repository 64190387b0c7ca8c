import type { ReactNode } from 'react'
import { usePreferences } from '../../kit/preferences.ts'
import { exactDuration } from '../../kit/time.ts'
import { sessionText } from './text.ts'
import type { TimelineRow } from './timeline-draft.ts'

export type Of<Kind> = { row: Extract<TimelineRow, { kind: Kind }> }

/** Parts of a row's quiet explanation, set apart by a middle dot. */
export function Quiet({ parts }: { parts: readonly (ReactNode | null | undefined | false)[] }) {
  const shown = parts.filter(Boolean)
  if (shown.length === 0) return null
  return (
    <span className="mute tl-quiet">
      {shown.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence never change places
        <span key={index}>
          {index > 0 && ' · '}
          {part}
        </span>
      ))}
    </span>
  )
}

export function useTook(took: number | null): string | null {
  const { language } = usePreferences()
  if (took === null) return null
  if (took < 1_000) return `${took} ms`
  return took < 60_000 ? `${(took / 1_000).toFixed(1)} s` : exactDuration(took, language)
}

/** What an agent did with a tool: what the guard said to it, what came of it, and the phase that it led to. */
export function ToolWords({ row }: Of<'tool'>) {
  const t = sessionText.useText()
  const took = useTook(row.took)
  const { asked, entered, event, ok, summary } = row
  const name = row.tool || String(sessionText.find(`event.${event.type}`))
  if (asked?.decision === 'DENIED')
    return (
      <>
        <s className="tl-refused mono">{name}</s>{' '}
        <span className="tl-bad">
          {asked.code === 'ACTION_NOT_ALLOWED_IN_PHASE' && asked.phase
            ? t('row.notInPhase', { phase: asked.phase })
            : t('row.refusedFor', { code: asked.code ?? '' })}
        </span>
      </>
    )
  if (ok === false)
    return (
      <>
        <s className="tl-refused mono">{name}</s>{' '}
        <span className="tl-bad">
          {t('row.toolFailed')}
          {summary && `: ${summary}`}
        </span>
      </>
    )
  const isResult = event.type === 'TOOL_RESULT' || event.type === 'ACTION_COMPLETED' || ok !== null
  const came = [summary, took].filter(Boolean).join(', ')
  return (
    <>
      <span className="mono">{name}</span>{' '}
      <Quiet
        parts={[
          isResult
            ? (came || entered === null) && `→ ${came || t('row.done')}`
            : (summary ?? t('row.noResult')),
          !isResult && asked?.decision === 'NEEDS_APPROVAL' && t('row.asksFirst'),
          entered !== null && t('row.entered', { phase: entered }),
        ]}
      />
    </>
  )
}

/** A revision that no turn brought: who changed the task, how, and why. */
export function IntentWords({ row }: Of<'intent'>) {
  const t = sessionText.useText()
  const { detail, type } = row.event
  if (detail?.__typename !== 'IntentDetail') return null
  const { revision } = row
  const isBinding = type === 'INTENT_REBOUND'
  return (
    <>
      {isBinding
        ? t('row.bound', { run: row.runNumber ?? '', revision: revision.number })
        : t(`row.change.${revision.changeKind}`)}{' '}
      <Quiet
        parts={[
          !isBinding && `“${revision.text}”`,
          !isBinding && revision.note,
          isBinding && detail.bindReason && sessionText.find(`row.bindReason.${detail.bindReason}`),
          detail.actor && t('row.by', { name: detail.actor.name }),
        ]}
      />
    </>
  )
}

/** What has no form of its own: its name, and what its typed reading adds. */
export function NoteWords({ row }: Of<'note'>) {
  const t = sessionText.useText()
  const { detail, type } = row.event
  const name =
    detail?.__typename === 'RequirementDetail'
      ? t(`row.requirementIs.${detail.requirementState}`)
      : (sessionText.find(`event.${type}`) ?? type)
  const parts: (string | null | undefined | false)[] = []
  if (detail?.__typename === 'SessionStateDetail')
    parts.push(
      type === 'SESSION_RENAMED' && detail.title !== null && t('row.renamed', { title: detail.title }),
      detail.actor && t('row.by', { name: detail.actor.name }),
    )
  if (detail?.__typename === 'TextDetail') parts.push(detail.text)
  if (detail?.__typename === 'RouteDetail' && detail.route)
    parts.push(
      t(`row.relation.${detail.route.relation}`),
      detail.route.protocol,
      t(`row.source.${detail.route.source}`),
    )
  if (detail?.__typename === 'RequirementDetail')
    parts.push(
      detail.evidence && t('row.evidence', { number: detail.evidence.number, tool: detail.evidence.tool }),
      detail.actor && t('row.by', { name: detail.actor.name }),
    )
  if (detail?.__typename === 'SegmentDetail') parts.push(detail.protocol, detail.phase)
  if (detail?.__typename === 'HandoffDetail')
    parts.push(`${detail.from} → ${detail.to}`, detail.reason, detail.code, ...detail.openGoals)
  if (detail?.__typename === 'ApprovalDetail') parts.push(detail.approval?.title, detail.decision)
  if (detail?.__typename === 'UsageDetail') {
    const { inputTokens, outputTokens } = detail.usage
    if (inputTokens !== null || outputTokens !== null)
      parts.push(t('row.tokens', { input: inputTokens ?? '–', output: outputTokens ?? '–' }))
  }
  return (
    <>
      {name} <Quiet parts={parts} />
    </>
  )
}
