import { shownState } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import type { SessionEvent } from './session-event.ts'
import { sessionText } from './text.ts'

type Detail = NonNullable<SessionEvent['detail']>
type DetailOf<Name> = Extract<Detail, { __typename: Name }>
/** A label and what stands beside it; what is null or empty has no line. */
export type DetailLine = [label: string, value: string | null | undefined]

/** The typed part of an event in words, where it says more than its payload does. */
export function useDetailLines(event: SessionEvent): DetailLine[] {
  const words = useTaskLines()
  const t = sessionText.useText()
  const run = runText.useText()
  const { detail } = event
  switch (detail?.__typename) {
    case 'RunStateDetail':
      return [
        [
          t('list.column.state'),
          run(`state.${shownState({ state: detail.runState, completion: detail.completion })}`),
        ],
        [t('aside.runtime'), detail.runtime?.name],
        [t('panel.cause'), detail.reason],
        [t('panel.by'), detail.actor?.name],
      ]
    case 'ApprovalDetail':
      return [[t('panel.detail'), detail.approval?.title]]
    case 'MessageDetail':
      return [[t('panel.detail'), detail.message && `${detail.message.author.name}: ${detail.message.text}`]]
    case 'ToolDetail':
      return [[t('panel.detail'), detail.summary ?? detail.tool]]
    case 'RouteDetail':
      return words.route(detail)
    case 'IntentDetail':
      return words.intent(detail)
    case 'RequirementDetail':
      return [
        [t('panel.state'), t(`row.requirement.${detail.requirementState}`)],
        [
          t('panel.evidence'),
          detail.evidence && t('row.action', { number: detail.evidence.number, tool: detail.evidence.tool }),
        ],
        [t('panel.by'), detail.actor?.name],
      ]
    case 'SegmentDetail':
      return [
        [t('aside.protocol'), detail.protocol],
        [
          t('panel.phase'),
          detail.leftPhase === null ? detail.phase : `${detail.leftPhase} → ${detail.phase}`,
        ],
        [t('panel.cause'), detail.cause && sessionText.find(`panel.segmentCause.${detail.cause}`)],
      ]
    case 'ActionDetail':
      return words.action(detail)
    case 'HandoffDetail':
      return words.handoff(detail)
    default:
      return []
  }
}

function useTaskLines() {
  const t = sessionText.useText()
  return {
    route: ({ route, task }: DetailOf<'RouteDetail'>): DetailLine[] =>
      route === null
        ? []
        : [
            [t('panel.relation'), t(`row.relation.${route.relation}`)],
            [t('aside.protocol'), route.protocol],
            [t('aside.source'), t(`row.source.${route.source}`)],
            [t('panel.confidence'), route.confidence === null ? null : String(route.confidence)],
            [
              t('panel.classifier'),
              route.classifierMilliseconds === null ? null : `${route.classifierMilliseconds} ms`,
            ],
            [t('panel.reasons'), route.reasons.join(', ')],
            [t('panel.warnings'), route.warnings.join(', ')],
            [t('panel.revision'), task && `r${task.number}`],
          ],
    intent: (detail: DetailOf<'IntentDetail'>): DetailLine[] => [
      [t('panel.revision'), detail.revision ? `r${detail.revision.number}` : t('panel.none')],
      [t('panel.change'), detail.revision && t(`row.change.${detail.revision.changeKind}`)],
      [t('panel.relation'), detail.relation && t(`row.relation.${detail.relation}`)],
      [t('aside.task'), detail.revision?.text],
      [t('panel.note'), detail.revision?.note],
      [t('panel.cause'), detail.bindReason && sessionText.find(`row.bindReason.${detail.bindReason}`)],
      [t('panel.by'), detail.actor?.name],
    ],
    action: (detail: DetailOf<'ActionDetail'>): DetailLine[] => [
      [t('panel.tool'), detail.actTool],
      [t('panel.action'), detail.act],
      [t('panel.verdict'), detail.verdict && t(`panel.verdictOf.${detail.verdict}`)],
      [t('panel.why'), detail.code],
      [t('panel.result'), detail.ok === null ? null : t(detail.ok ? 'row.done' : 'row.toolFailed')],
      [t('aside.protocol'), detail.underProtocol],
      [t('panel.phase'), detail.inPhase],
    ],
    handoff: (detail: DetailOf<'HandoffDetail'>): DetailLine[] => [
      [t('panel.handoff'), `${detail.from} → ${detail.to}`],
      [t('panel.why'), detail.reason],
      [t('panel.code'), detail.code],
      [
        t('panel.openGoals', { count: detail.openGoalCount }),
        [...detail.openGoals, ...(detail.openGoalCount > detail.openGoals.length ? ['…'] : [])].join('\n'),
      ],
      [t('panel.claimedGoals'), detail.claimedGoals.join('\n')],
      [t('panel.by'), detail.actor?.name],
    ],
  }
}
