import { encodeId, type NodeType } from '../../../platform/ids.ts'
import type { BindingRow, RevisionRow } from '../../intents/operations.ts'
import type { Requirement } from '../../intents/rules.ts'
import type { ApprovalRow, RouteRow, RunRow } from '../../runs/operations.ts'
import type { SegmentRow } from '../../runs/segments/operations.ts'
import type { CheckpointRow } from '../forks/operations.ts'
import type { EventRow } from '../journal/operations.ts'
import type { MessageRow, SessionRow } from '../operations.ts'
import type { ActionRow, RequirementStateRow } from './store.ts'

export const exportFormats = ['MARKDOWN', 'JSON', 'JSONL'] as const
export type ExportFormat = (typeof exportFormats)[number]
export const isExportFormat = (text: string | null): text is ExportFormat =>
  exportFormats.some((format) => format === text)

const files: Record<ExportFormat, { extension: string; type: string }> = {
  MARKDOWN: { extension: 'md', type: 'text/markdown; charset=utf-8' },
  JSON: { extension: 'json', type: 'application/json; charset=utf-8' },
  JSONL: { extension: 'jsonl', type: 'application/x-ndjson; charset=utf-8' },
}

/**
 * The headers of a download: its type, and a name that no file system and no header trips over, made from the title;
 * plain ASCII for old clients, letters of every script for the rest.
 */
export function downloadHeaders(
  format: ExportFormat,
  session: { id: string; title: string },
): Record<string, string> {
  const { extension, type } = files[format]
  const words = session.title.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '-')
  const name =
    [...words]
      .slice(0, 60)
      .join('')
      .replace(/^-+|-+$/g, '') || 'session'
  const ascii = `session-${session.id.slice(-12)}.${extension}`
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`)}`,
  }
}

const time = (at: Date | null) => at?.toISOString() ?? null
const usageOf = (row: SessionRow | RunRow) => ({
  inputTokens: row.inputTokens,
  outputTokens: row.outputTokens,
  cachedTokens: row.cachedTokens,
  modelCalls: row.modelCalls,
  toolCalls: row.toolCalls,
  milliseconds: row.milliseconds,
})

/** The records of an export, with public ids and instants as RFC 3339 text. */
export const records = {
  session: (row: SessionRow) => ({
    id: encodeId({ type: 'Session', projectId: row.projectId, id: row.id }),
    projectId: encodeId({ type: 'Project', id: row.projectId }),
    title: row.title,
    summary: row.summary,
    state: row.state,
    generation: row.generation,
    model: row.model,
    thinkingLevel: row.thinkingLevel,
    createdAt: time(row.createdAt),
    createdBy: principal(row.createdBy),
    lastActivityAt: time(row.lastActivityAt),
    closedAt: time(row.closedAt),
    runCount: row.runCount,
    messageCount: row.messageCount,
    firstSequence: row.firstSequence,
    lastSequence: row.lastSequence,
    protocol: row.protocol,
    intentId: idOf('IntentRevision', row.projectId, row.intentHeadId ?? row.forkRevisionId),
    parentId: idOf('Session', row.projectId, row.parentId),
    forkedFromCheckpointId: idOf('Checkpoint', row.projectId, row.forkedFromCheckpointId),
    forkedFromRunId: idOf('Run', row.projectId, row.forkedFromRunId),
    forkedFromRevisionId: idOf('IntentRevision', row.projectId, row.forkRevisionId),
    usage: usageOf(row),
  }),
  message: (row: MessageRow) => ({
    id: idOf('Message', row.projectId, row.id),
    sequence: row.sequence,
    author: principal(row.authorId),
    authority: row.authority,
    runId: idOf('Run', row.projectId, row.runId),
    answersId: idOf('Message', row.projectId, row.answersId),
    text: row.text,
    at: time(row.at),
  }),
  run: (row: RunRow) => ({
    id: idOf('Run', row.projectId, row.id),
    number: row.number,
    state: row.state,
    completion: row.completion,
    failureCode: row.failureCode,
    failureMessage: row.failureMessage,
    effects: row.effects,
    execution: row.execution,
    routeId: idOf('RouteDecision', row.projectId, row.routeId),
    runtimeId: idOf('Runtime', row.projectId, row.runtimeId),
    headAtEndId: idOf('IntentRevision', row.projectId, row.headAtEndId),
    messageId: idOf('Message', row.projectId, row.messageId),
    answerId: idOf('Message', row.projectId, row.answerId),
    submittedBy: principal(row.submittedBy),
    model: row.model,
    thinkingLevel: row.thinkingLevel,
    usage: usageOf(row),
    offeredAt: time(row.offeredAt),
    offerExpiresAt: time(row.offerExpiresAt),
    startedAt: time(row.startedAt),
    deadlineAt: time(row.deadlineAt),
    endedAt: time(row.endedAt),
    endedBy: principal(row.endedBy),
    endReason: row.endReason,
  }),
  approval: (row: ApprovalRow) => ({
    id: idOf('Approval', row.projectId, row.id),
    runId: idOf('Run', row.projectId, row.runId),
    kind: row.kind,
    title: row.title,
    payload: row.payload,
    options: row.options,
    defaultDecision: row.defaultDecision,
    state: row.state,
    decision: row.decision,
    note: row.note,
    decidedBy: principal(row.decidedBy),
    decidedAt: time(row.decidedAt),
    createdAt: time(row.createdAt),
    expiresAt: time(row.expiresAt),
  }),
  routeDecision: (row: RouteRow) => ({
    id: idOf('RouteDecision', row.projectId, row.id),
    runId: idOf('Run', row.projectId, row.runId),
    target: row.target,
    relation: row.relation,
    protocol: row.protocol,
    source: row.source,
    reasons: row.reasons,
    warnings: row.warnings,
    confidence: row.confidence,
    candidates: row.candidates,
    at: time(row.at),
  }),
  /** Of the session itself, and the one of another session that it was forked at. */
  intentRevision: (row: RevisionRow) => ({
    id: idOf('IntentRevision', row.projectId, row.id),
    sessionId: idOf('Session', row.projectId, row.sessionId),
    number: row.number,
    taskId: row.taskId,
    previousId: idOf('IntentRevision', row.projectId, row.previousId),
    protocol: row.protocol,
    text: row.text,
    requirements: (row.requirements as unknown as Requirement[]).map(({ id, text, messageId }) => ({
      id: idOf('Requirement', row.projectId, id),
      text,
      messageId: idOf('Message', row.projectId, messageId),
    })),
    changeKind: row.changeKind,
    runId: idOf('Run', row.projectId, row.runId),
    messageId: idOf('Message', row.projectId, row.messageId),
    author: principal(row.authorId),
    note: row.note,
    at: time(row.at),
  }),
  binding: (row: BindingRow) => ({
    runId: idOf('Run', row.projectId, row.runId),
    number: row.number,
    baseId: idOf('IntentRevision', row.projectId, row.baseId),
    activeId: idOf('IntentRevision', row.projectId, row.activeId),
    relation: row.relation,
    reason: row.reason,
    by: principal(row.byId),
    at: time(row.at),
  }),
  requirementState: (row: RequirementStateRow) => ({
    requirementId: idOf('Requirement', row.projectId, row.requirementId),
    number: row.number,
    state: row.state,
    sequence: row.sequence,
    runId: idOf('Run', row.projectId, row.runId),
    actionId: idOf('Action', row.projectId, row.actionId),
    by: principal(row.byId),
    at: time(row.at),
  }),
  segment: (row: SegmentRow) => ({
    id: idOf('ProtocolSegment', row.projectId, row.id),
    runId: idOf('Run', row.projectId, row.runId),
    number: row.number,
    protocol: row.protocol,
    state: row.state,
    revision: row.revision,
    phase: row.phase,
    facts: row.facts,
    openedBy: row.openedBy,
    closedBy: row.closedBy,
    openedAt: time(row.openedAt),
    closedAt: time(row.closedAt),
  }),
  action: (row: ActionRow) => ({
    id: idOf('Action', row.projectId, row.id),
    runId: idOf('Run', row.projectId, row.runId),
    segmentId: idOf('ProtocolSegment', row.projectId, row.segmentId),
    number: row.number,
    tool: row.tool,
    action: row.action,
    governedBy: row.governedBy,
    argumentsDigest: row.argumentsDigest,
    protocol: row.protocol,
    phase: row.phase,
    decision: row.decision,
    code: row.code,
    approvalId: idOf('Approval', row.projectId, row.approvalId),
    ok: row.ok,
    resultDigest: row.resultDigest,
    facts: row.facts,
    requestedAt: time(row.requestedAt),
    closedAt: time(row.closedAt),
  }),
  checkpoint: (row: CheckpointRow) => ({
    id: idOf('Checkpoint', row.projectId, row.id),
    number: row.number,
    runId: idOf('Run', row.projectId, row.runId),
    label: row.label,
    sequence: row.sequence,
    messageSequence: row.messageSequence,
    revisionId: idOf('IntentRevision', row.projectId, row.revisionId),
    by: principal(row.byId),
    at: time(row.at),
  }),
  event: (row: EventRow) => ({
    sequence: row.sequence,
    runId: idOf('Run', row.projectId, row.runId),
    runSequence: row.runSequence,
    type: row.type,
    payload: row.payload,
    at: time(row.at),
  }),
}
const principal = (id: string | null) => id && encodeId({ type: 'Principal', id })
const idOf = (type: NodeType, projectId: string, id: string | null) => id && encodeId({ type, projectId, id })

// --- Markdown ---------------------------------------------------------------------------------------------------------

/** `2026-03-01 12:00:00 UTC` */
export const utc = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
/** Text of others on one line, without what Markdown would read as its own. */
const inline = (text: string) => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~]/g, '\\$&')
/** Text of others as a quotation, so that nothing in it becomes part of the document around it. */
const quoted = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')

export const markdown = {
  head: (session: SessionRow, exportedAt: Date) =>
    `# ${inline(session.title)}\n\n- Session \`${records.session(session).id}\`, ${session.state}\n- Created ${utc(session.createdAt)}\n- Exported ${utc(exportedAt)}\n- ${session.messageCount} messages, ${session.runCount} runs\n\n`,
  message: (message: MessageRow, author: string) =>
    `## ${inline(author)} (${message.authority}), ${utc(message.at)}\n\n${quoted(message.text)}\n\n`,
  event: (event: EventRow, runNumber: number | undefined) => {
    const words = eventWords(event)
    const run = runNumber === undefined ? '' : `Run ${runNumber} `
    return words === null ? '' : `_${utc(event.at)}: ${run}${words}_\n\n`
  },
}

/** The events that a reader of a transcript needs to understand it. */
export const readableEvents = [
  'RUN_STARTED',
  'RUN_WAITING',
  'RUN_RESUMED',
  'RUN_COMPLETED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'RUN_TIMED_OUT',
  'APPROVAL_REQUESTED',
  'APPROVAL_ANSWERED',
  'APPROVAL_EXPIRED',
  'APPROVAL_WITHDRAWN',
  'SESSION_CLOSED',
  'SESSION_OPENED',
] as const

function eventWords({ type, payload }: EventRow): string | null {
  const of = (name: string) => {
    const value = (payload as Record<string, unknown> | null)?.[name]
    return typeof value === 'string' ? inline(value) : null
  }
  const because = (...names: string[]) => {
    const given = names.map(of).filter((text) => text !== null)
    return given.length > 0 ? `: ${given.join(', ')}` : ''
  }
  switch (type) {
    case 'RUN_STARTED':
      return 'RUNNING'
    case 'RUN_WAITING':
      return 'WAITING\\_APPROVAL'
    case 'RUN_RESUMED':
      return 'RUNNING again'
    case 'RUN_COMPLETED':
      return `COMPLETED${because('completion')}`
    case 'RUN_FAILED':
      return `FAILED${because('code', 'message')}`
    case 'RUN_CANCELLED':
      return `CANCELLED${because('reason')}`
    case 'RUN_TIMED_OUT':
      return 'TIMED\\_OUT'
    case 'APPROVAL_REQUESTED':
      return `asks${because('title')}`
    case 'APPROVAL_ANSWERED':
      return `is answered${because('decision', 'note')}`
    case 'APPROVAL_EXPIRED':
      return `gets no answer, the default decides${because('decision')}`
    case 'APPROVAL_WITHDRAWN':
      return 'needs no answer any more'
    case 'SESSION_CLOSED':
      return 'The session is closed'
    case 'SESSION_OPENED':
      return 'The session is open again'
    default:
      return null
  }
}
