import DataLoader from 'dataloader'
import {
  loadGrants,
  loadGrantsOfPrincipals,
  loadGrantsOfTokens,
  loadPrincipals,
  loadTokens,
  loadTokensOfPrincipals,
} from '../domains/access/operations.ts'
import { loadInboxItems } from '../domains/delivery/operations.ts'
import { loadBindings, loadRequirementStates, loadRevisions } from '../domains/intents/operations.ts'
import type { RequirementState } from '../domains/intents/rules.ts'
import { loadProjectLoads, loadProjects } from '../domains/projects/operations.ts'
import { loadProtocolSources, loadProtocols, type VersionKey } from '../domains/protocols/operations.ts'
import { type AsksOfSession, loadApprovalsOfSessions } from '../domains/runs/approvals/operations.ts'
import {
  type ActionPage,
  loadActionPages,
  loadActions,
  loadLastSegments,
  loadSegmentPages,
  loadSegments,
  loadSegmentsOfRuns,
  type SegmentPage,
  type SegmentRow,
} from '../domains/runs/guard/operations.ts'
import { loadRunPages, type RunPage } from '../domains/runs/listing/operations.ts'
import {
  type ApprovalRow,
  loadApprovals,
  loadApprovalsOfRuns,
  loadRoutes,
  loadRuns,
  loadRuntimes,
  loadRuntimesOfProjects,
} from '../domains/runs/operations.ts'
import {
  type CheckpointPage,
  type ForkPage,
  loadCheckpointPages,
  loadCheckpoints,
  loadForkPages,
} from '../domains/sessions/forks/operations.ts'
import { loadMessages, loadSessions } from '../domains/sessions/operations.ts'
import { loadMessagePages, type MessagePage } from '../domains/sessions/transcript/operations.ts'
import type { Db } from '../platform/database.ts'
import type { Ref } from '../platform/ids.ts'

const refKey = (ref: Ref) => `${ref.projectId}/${ref.id}`

/** Rows by reference, in one statement however many are asked for; null where there is none. */
function byRef<Row extends Ref>(load: (refs: readonly Ref[]) => Promise<Row[]>) {
  return new DataLoader<Ref, Row | null, string>(
    async (refs) => {
      const rows = new Map((await load(refs)).map((row) => [refKey(row), row]))
      return refs.map((ref) => rows.get(refKey(ref)) ?? null)
    },
    { cacheKeyFn: refKey },
  )
}

function byId<Row extends { id: string }>(load: (ids: readonly string[]) => Promise<Row[]>) {
  return new DataLoader<string, Row | null>(async (ids) => {
    const rows = new Map((await load(ids)).map((row) => [row.id, row]))
    return ids.map((id) => rows.get(id) ?? null)
  })
}

/** Lists of children by their parent's id, in one statement. */
function childrenOf<Row>(
  load: (ids: readonly string[]) => Promise<Row[]>,
  parentOf: (row: Row) => string | null,
) {
  return new DataLoader<string, Row[]>(async (ids) => {
    const lists = new Map<string, Row[]>(ids.map((id) => [id, []]))
    for (const row of await load(ids)) lists.get(parentOf(row) ?? '')?.push(row)
    return ids.map((id) => lists.get(id) ?? [])
  })
}

/** What has become of requirements in their sessions; null for what nobody has met or dropped yet. */
function requirementStates(db: Db) {
  type Asked = { projectId: string; sessionId: string; id: string }
  const key = (sessionId: string, id: string) => `${sessionId}/${id}`
  return new DataLoader<Asked, { state: RequirementState; actionId: string | null } | null, string>(
    async (asked) => {
      const sessions = asked.map(({ projectId, sessionId: id }) => ({ projectId, id }))
      const rows = await loadRequirementStates(
        db,
        sessions,
        asked.map(({ id }) => id),
      )
      const states = new Map(rows.map((row) => [key(row.sessionId, row.requirementId), row]))
      return asked.map(({ sessionId, id }) => states.get(key(sessionId, id)) ?? null)
    },
    { cacheKeyFn: ({ sessionId, id }) => key(sessionId, id) },
  )
}

const segmentByRun = (db: Db) =>
  new DataLoader<Ref, SegmentRow | null, string>(
    async (runs) => {
      const rows = await loadLastSegments(db, runs)
      const byRun = new Map(rows.map((row) => [`${row.projectId}/${row.runId}`, row]))
      return runs.map((run) => byRun.get(refKey(run)) ?? null)
    },
    { cacheKeyFn: refKey },
  )
/** What was registered as a version of a protocol; null for what is not there. */
function protocolSources(db: Db) {
  const key = ({ projectId, id, version }: VersionKey) => `${projectId}/${id}@${version}`
  return new DataLoader<VersionKey, { source: string } | null, string>(
    async (keys) => {
      const sources = new Map((await loadProtocolSources(db, keys)).map((row) => [key(row), row]))
      return keys.map((each) => sources.get(key(each)) ?? null)
    },
    { cacheKeyFn: key },
  )
}

/** Pages that belong to nodes, those of all of them together. A page is its own key: none is asked for twice. */
const pagesOf = <Page extends object, Result>(load: (pages: readonly Page[]) => Promise<Result[]>) =>
  new DataLoader<Page, Result>(load, { cache: false })

/** What keeps nested reads at a bounded number of statements: one batch a type and request. */
export function createLoaders(db: Db) {
  return {
    project: byId((ids) => loadProjects(db, ids)),
    projectLoad: byId((ids) => loadProjectLoads(db, ids)),
    session: byRef((refs) => loadSessions(db, refs)),
    message: byRef((refs) => loadMessages(db, refs)),
    messagePage: pagesOf((pages: readonly MessagePage[]) => loadMessagePages(db, pages)),
    runPage: pagesOf((pages: readonly RunPage[]) => loadRunPages(db, pages)),
    checkpoint: byRef((refs) => loadCheckpoints(db, refs)),
    checkpointPage: pagesOf((pages: readonly CheckpointPage[]) => loadCheckpointPages(db, pages)),
    forkPage: pagesOf((pages: readonly ForkPage[]) => loadForkPages(db, pages)),
    run: byRef((refs) => loadRuns(db, refs)),
    route: byRef((refs) => loadRoutes(db, refs)),
    intentRevision: byRef((refs) => loadRevisions(db, refs)),
    /** What a run is bound to, by the run. */
    binding: byRef(async (refs) =>
      (await loadBindings(db, refs)).map((binding) => ({ ...binding, id: binding.runId })),
    ),
    requirementState: requirementStates(db),
    protocols: new DataLoader((projects: readonly string[]) => loadProtocols(db, projects)),
    segment: byRef((refs) => loadSegments(db, refs)),
    /** The active segment of a run, or its last, by the run. */
    lastSegment: segmentByRun(db),
    segmentsOfRun: childrenOf(
      (ids) => loadSegmentsOfRuns(db, ids),
      (row) => row.runId,
    ),
    action: byRef((refs) => loadActions(db, refs)),
    actionPage: pagesOf((pages: readonly ActionPage[]) => loadActionPages(db, pages)),
    segmentPage: pagesOf((pages: readonly SegmentPage[]) => loadSegmentPages(db, pages)),
    protocolSource: protocolSources(db),
    inboxItem: byRef((refs) => loadInboxItems(db, refs)),
    approval: byRef((refs) => loadApprovals(db, refs)),
    approvalsOfRun: childrenOf(
      (ids) => loadApprovalsOfRuns(db, ids),
      (row) => row.runId,
    ),
    approvalsOfSession: new DataLoader<AsksOfSession, ApprovalRow[], string>(
      (asked) => loadApprovalsOfSessions(db, asked),
      { cacheKeyFn: ({ session, open }) => `${refKey(session)}/${open}` },
    ),
    runtime: byRef((refs) => loadRuntimes(db, refs)),
    runtimesOfProject: childrenOf(
      (ids) => loadRuntimesOfProjects(db, ids),
      (row) => row.projectId,
    ),
    principal: byId((ids) => loadPrincipals(db, ids)),
    token: byId((ids) => loadTokens(db, ids)),
    grant: byId((ids) => loadGrants(db, ids)),
    tokensOfPrincipal: childrenOf(
      (ids) => loadTokensOfPrincipals(db, ids),
      (row) => row.principalId,
    ),
    grantsOfPrincipal: childrenOf(
      (ids) => loadGrantsOfPrincipals(db, ids),
      (row) => row.principalId,
    ),
    grantsOfToken: childrenOf(
      (ids) => loadGrantsOfTokens(db, ids),
      (row) => row.tokenId,
    ),
  }
}

export type Loaders = ReturnType<typeof createLoaders>
