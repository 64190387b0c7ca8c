import { resolveNodes } from '@pothos/plugin-relay'
import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { connectionType, forwardArgs, pageCost } from '../../../graphql/connection.ts'
import { type Context, permit, viewerOf } from '../../../graphql/context.ts'
import { type Fields, input, inputObject, type Parsed, parse } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import { decodeId, type NodeRef } from '../../../platform/ids.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { textIssues } from '../../../platform/text.ts'
import { ProjectRef } from '../../projects/graphql.ts'
import { PrincipalRef } from '../principals/graphql.ts'
import { allows, type Channel, seesProject } from '../rules.ts'
import { type AuditFilter, type AuditRow, listAudit, loadAuditEntries } from './operations.ts'

export const AuditChannelRef = builder.enumType('AuditChannel', {
  description: 'Through what somebody acted.',
  values: {
    CONSOLE: { description: 'A person, signed in to the console.' },
    API: { description: 'A token.' },
    AGENT: { description: 'The token of an agent runtime or a worker.' },
    SYSTEM: { description: 'The server itself.' },
  },
})

/** The entry that an id names, for a caller that may read the log it stands in; else null. */
async function auditNode({ id }: NodeRef, context: Context): Promise<AuditRow | null> {
  const [row] = await loadAuditEntries(context.app.db, [id])
  const scope = { projectId: row?.projectId ?? undefined }
  return row && allows(viewerOf(context), 'audit.read', scope) ? row : null
}

const AuditEntryRef = builder.objectRef<AuditRow>('AuditEntry')

builder.node(AuditEntryRef, {
  description: 'Who did what to what, why, and through which channel. Never changed, never removed.',
  id: { resolve: ({ id }) => nodeKey({ id }) },
  loadWithoutCache: (key, context) => found(auditNode(unspell('AuditEntry', key), context)),
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    actor: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'Who; null for the server itself.',
      resolve: ({ actorId }, _args, { loaders }) =>
        actorId === null ? null : loaders.principal.load(actorId),
    }),
    action: t.exposeString('action', { description: 'What was done, as `thing.done`.' }),
    subjectType: t.exposeString('subjectType', {
      nullable: true,
      description: 'The type of what it was done to.',
    }),
    subjectId: t.exposeID('subjectId', {
      nullable: true,
      description: 'The id of what it was done to; it stays when the thing is gone.',
    }),
    subject: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'What it was done to, as it is now; null when it is gone or you can’t see it.',
      resolve: async ({ subjectId }, _args, context, info) => {
        const ref = subjectId === null ? null : decodeId(subjectId)
        if (!ref) return null
        try {
          const [node] = await resolveNodes(builder, context, info, [
            { typename: ref.type, id: nodeKey(ref) },
          ])
          return node as never
        } catch (error) {
          if (error instanceof Refusal) return null
          throw error
        }
      },
    }),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'The project that it was done in, where you can see it.',
      resolve: ({ projectId }, _args, context) =>
        projectId !== null && seesProject(viewerOf(context), projectId)
          ? context.loaders.project.load(projectId)
          : null,
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, as who did it put it.' }),
    channel: t.field({
      type: AuditChannelRef,
      description: 'Through what.',
      resolve: ({ channel }) => channel as Channel,
    }),
    detail: t.expose('detail', {
      type: 'JSON',
      nullable: true,
      description: 'What exactly: never a secret.',
    }),
  }),
})

const filterFields = {
  actorId: input.id('Principal', 'Who did it.'),
  actions: input.list(
    input.text('An action.', { max: 64 }, true),
    'String',
    'What was done, any of these.',
    [1, 100],
  ),
  subjectId: input.anyId('What it was done to.'),
  channels: input.list(
    input.enum(AuditChannelRef, 'A channel.', true),
    AuditChannelRef,
    'Through what, any of these.',
    [1, 4],
  ),
  from: input.date('From this instant on.'),
  to: input.date('Before this instant.'),
} satisfies Fields
const AuditFilterInput = inputObject('AuditFilter', 'Which entries: those that meet all of it.', filterFields)

/** Reads a filter as it came in; an id that can't name anything is NOT_FOUND. */
export function auditFilterOf(raw: unknown): AuditFilter {
  const issues = textIssues(raw)
  if (issues.length > 0) throw new Refusal('INVALID_INPUT', 'The input is not valid.', { issues })
  const { actorId, ...filter }: Parsed<typeof filterFields> = parse(AuditFilterInput.schema, raw ?? {})
  return { ...filter, actorId: actorId?.id }
}

const AuditConnection = connectionType('Audit', AuditEntryRef)

builder.queryFields((t) => {
  const scoped = {
    projectId: t.arg.id({ description: 'The project; everything when absent.' }),
    filter: t.arg({ type: AuditFilterInput.ref as never, description: 'Which entries.' }),
  }
  const scopeOf = (args: { projectId?: string | null | undefined }, context: Context) => {
    const projectId = args.projectId == null ? null : refOf('Project', args.projectId).id
    permit(context, 'audit.read', { projectId: projectId ?? undefined })
    return projectId
  }
  return {
    auditLog: t.field({
      type: AuditConnection,
      description:
        'Who did what, newest first; kept for ten years. Capability: `audit.read` on the project, or on everything.',
      args: { ...scoped, ...forwardArgs },
      complexity: pageCost,
      resolve: async (_root, args, context) => {
        const filter = auditFilterOf(args.filter)
        const request = pageRequest(args, isTimeKey)
        const projectId = scopeOf(args, context)
        const rows = await listAudit(context.app.db, projectId, filter, request)
        return connectionOf(rows, request, (row) => [row.at.toISOString(), row.id])
      },
    }),
    auditExportPath: t.string({
      description:
        'Where to GET the same entries as CSV, in full, as whoever asks there. The export is itself recorded. Capability: `audit.read`.',
      args: scoped,
      resolve: (_root, args, context) => {
        auditFilterOf(args.filter)
        scopeOf(args, context)
        const query = new URLSearchParams()
        if (args.projectId != null) query.set('project', args.projectId)
        if (args.filter != null) query.set('filter', JSON.stringify(args.filter))
        return query.size > 0 ? `${auditExportPath}?${query}` : auditExportPath
      },
    }),
  }
})

/** The export over HTTP: `project` is a public id, `filter` an AuditFilter as JSON. */
export const auditExportPath = '/exports/audit.csv'
