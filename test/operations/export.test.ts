import { correctIntent } from '@wheelhouse/server/domains/intents/correction/operations'
import {
  commitRequirements,
  meetRequirement,
} from '@wheelhouse/server/domains/intents/requirements/operations'
import { resolveApproval } from '@wheelhouse/server/domains/runs/approvals/operations'
import { exportSession } from '@wheelhouse/server/domains/sessions/export/operations'
import { downloadHeaders, type ExportFormat } from '@wheelhouse/server/domains/sessions/export/rules'
import { forkSession } from '@wheelhouse/server/domains/sessions/forks/operations'
import { deleteSession } from '@wheelhouse/server/domains/sessions/lifecycle/operations'
import { decodeId, encodeId, type NodeType, type Ref } from '@wheelhouse/server/platform/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeededAction } from '../kit/actions.ts'
import { type Story, startStory } from '../kit/agent.ts'
import { callOf } from '../kit/platform.ts'
import { statements } from '../kit/statements.ts'

let given: Story
beforeAll(async () => {
  given = await startStory()
})
afterAll(() => given.close())

const begin = (session: Ref, format: ExportFormat, viewer = given.owner) =>
  exportSession(given.platform, viewer, session, format)
async function textOf(session: Ref, format: ExportFormat): Promise<string> {
  let text = ''
  for await (const piece of (await begin(session, format)).pieces) text += piece
  return text
}
const refusal = (code: string) => expect.objectContaining({ code })
const delta = (text: string) => ({ type: 'ANSWER_DELTA', payload: { text } })

/** A session with an answered ask, an answer, a failed run and more events than fit on a page. */
async function aLongSession() {
  const session = await given.session('Prices: May / 价格')
  const first = await given.running(session, 'Which sold best?')
  const approval = await given.asks(first, 'Scan 14 GB?')
  await resolveApproval(given.platform, callOf(given.owner), { approvalId: approval, decision: 'allow' })
  const words = Array.from({ length: 1_200 }, (_, index) => `w${index} `)
  for (let at = 0; at < words.length; at += 100) {
    await given.says(first, words.slice(at, at + 100).map(delta))
  }
  await given.completes(first, words.join(''))
  await given.fails(await given.running(session, 'And in June?'), 'No data.')
  return { session, approval, answer: words.join('') }
}

interface Document {
  session: { id: string; lastSequence: number }
  messages: { text: string; runId: string }[]
  runs: { state: string; number: number }[]
  approvals: { id: string; decision: string }[]
  routeDecisions: { protocol: string }[]
  events: { sequence: number; type: string }[]
}

describe('an export', () => {
  let long: Awaited<ReturnType<typeof aLongSession>>
  beforeAll(async () => {
    long = await aLongSession()
  })

  test('as JSON is one document with everything, the journal without a hole', async () => {
    const document = JSON.parse(await textOf(long.session, 'JSON')) as Document
    expect(document).toMatchObject({
      format: 'wheelhouse.session',
      version: 1,
      session: { id: encodeId({ type: 'Session', ...long.session }), title: 'Prices: May / 价格' },
      runs: [
        { number: 1, state: 'COMPLETED' },
        { number: 2, state: 'FAILED', failureMessage: 'No data.' },
      ],
      approvals: [{ id: encodeId({ type: 'Approval', ...long.approval }), decision: 'allow' }],
      routeDecisions: [{ protocol: 'general-task@1' }, { protocol: 'general-task@1' }],
    })
    expect(document.messages.map((message) => message.text)).toEqual([
      'Which sold best?',
      long.answer,
      'And in June?',
    ])
    expect(document.events.map((event) => event.sequence)).toEqual(
      Array.from({ length: document.session.lastSequence }, (_, index) => index + 1),
    )
  })

  test('as JSON lines is the same, one record a line', async () => {
    const lines = (await textOf(long.session, 'JSONL')).trimEnd().split('\n')
    const records = lines.map((line) => JSON.parse(line) as { kind: string; [key: string]: unknown })
    const document = JSON.parse(await textOf(long.session, 'JSON')) as Document
    const of = (kind: string) => records.filter((record) => record.kind === kind)
    expect(records[0]).toMatchObject({ kind: 'session', ...document.session })
    expect(of('event').map(({ kind, ...event }) => event)).toEqual(document.events)
    expect(of('message').map(({ kind, ...message }) => message)).toEqual(document.messages)
    expect(of('run')).toHaveLength(2)
    expect(of('approval')).toMatchObject([{ approvalKind: 'TOOL', decision: 'allow' }])
    expect(of('routeDecision')).toHaveLength(2)
  })

  test('has what the task was, what runs were bound to and which protocols they were under, on both ways', async () => {
    const session = await given.session('Task')
    const by = callOf(given.owner)
    const head = await correctIntent(given.platform, by, {
      sessionId: session,
      expectedHeadId: null,
      text: 'Sales',
      requirements: ['by region', 'by month'],
      note: 'So that it is clear.',
    })
    const { run, runToken } = await given.running(session, 'go on')
    const added = await commitRequirements(given.platform, callOf(given.agent), {
      runId: run,
      runToken,
      requirements: ['by week'],
    })
    const [requirement] = added.requirementIds
    const action = await succeededAction(given, encodeId({ type: 'Run', ...run }))
    await meetRequirement(given.platform, callOf(given.agent), {
      runId: run,
      runToken,
      requirementId: { ...run, id: requirement ?? '' },
      actionId: { ...run, id: decodeId(action)?.id ?? '' },
    })
    await given.completes({ run, runToken }, 'Done.')
    const publicId = (type: NodeType, id = '') => encodeId({ type, projectId: session.projectId, id })
    const [r1, r2] = [head.revisionId, added.revisionId].map((id) => publicId('IntentRevision', id))
    const runId = publicId('Run', run.id)
    const expected = {
      intentRevisions: [
        {
          id: r1,
          number: 1,
          previousId: null,
          text: 'Sales',
          note: 'So that it is clear.',
          changeKind: 'CORRECTION',
        },
        { id: r2, number: 2, previousId: r1, changeKind: 'REFINE', runId },
      ],
      bindings: [
        { runId, number: 1, baseId: r1, activeId: r1, relation: 'CONTINUE', reason: 'TURN' },
        { runId, number: 2, baseId: r1, activeId: r2, relation: 'CONTINUE', reason: 'REFINEMENT' },
      ],
      requirementStates: [
        {
          requirementId: publicId('Requirement', requirement),
          number: 1,
          state: 'MET',
          runId,
          actionId: action,
        },
      ],
      segments: [{ runId, number: 1, protocol: 'general-task@1', state: 'COMPLETED' }],
      actions: [{ id: action, runId, decision: 'ALLOWED', ok: true }],
      checkpoints: [{ runId, number: 1, revisionId: r2 }],
    }
    const document = JSON.parse(await textOf(session, 'JSON')) as Record<keyof typeof expected, object[]>
    expect(document).toMatchObject({
      ...expected,
      session: { intentId: r2, protocol: 'general-task@1', parentId: null },
    })
    const lines = (await textOf(session, 'JSONL')).trimEnd().split('\n')
    const records = lines.map((line) => JSON.parse(line) as { kind: string })
    for (const key of Object.keys(expected) as (keyof typeof expected)[])
      expect(records.filter(({ kind }) => `${kind}s` === key).map(({ kind, ...record }) => record)).toEqual(
        document[key],
      )
    // A fork's export has the revision that it begins with, which is its parent's.
    const checkpoint = await given.db.checkpoint.findFirstOrThrow({ where: { sessionId: session.id } })
    const child = await forkSession(given.platform, by, {
      sessionId: session,
      checkpointId: { projectId: session.projectId, id: checkpoint.id },
    })
    const fork = JSON.parse(await textOf({ ...session, id: child.sessionId }, 'JSON'))
    expect(fork).toMatchObject({
      session: { parentId: publicId('Session', session.id), forkedFromRevisionId: r2, intentId: r2 },
      intentRevisions: [{ id: r2, sessionId: publicId('Session', session.id) }],
      requirementStates: [{ state: 'MET' }],
      messages: [
        { text: 'go on', runId: null },
        { text: 'Done.', runId: null },
      ],
    })
  })

  test('as Markdown reads like the conversation, with times in UTC and run states in their place', async () => {
    const text = await textOf(long.session, 'MARKDOWN')
    const order = [
      '# Prices: May / 价格',
      '(OWNER), 2026-03-01 12:00:00 UTC',
      '> Which sold best?',
      '_2026-03-01 12:00:00 UTC: Run 1 RUNNING_',
      'Run 1 asks: Scan 14 GB?_',
      'Run 1 is answered: allow_',
      '(AGENT), 2026-03-01 12:00:00 UTC',
      '> w0 w1',
      'Run 1 COMPLETED: FULL_',
      '> And in June?',
      'Run 2 FAILED: BROKEN, No data._',
    ]
    const places = order.map((part) => text.indexOf(part))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places[0]).toBe(0)
  })

  test('ends with what was written when it began', async () => {
    const session = await given.session('Live')
    const run = await given.running(session)
    const { pieces } = await begin(session, 'JSON')
    await given.says(run, [delta('later')])
    let text = ''
    for await (const piece of pieces) text += piece
    expect(JSON.parse(text).events.at(-1).type).toBe('RUN_STARTED')
  })

  test('reads a page only when the one before was taken, and its pages end early when rows are large', async () => {
    const session = await given.session('Large')
    const run = await given.running(session)
    const large = (index: number) => ({ type: 'INFO', payload: { index, text: randomText(200_000) } })
    for (let index = 0; index < 30; index += 10) {
      await given.says(
        run,
        Array.from({ length: 10 }, (_, more) => large(index + more)),
      )
    }
    const { pieces } = await begin(session, 'JSONL')
    const taken: string[] = []
    taken.push((await pieces.next()).value as string)
    expect(taken[0]?.length).toBeLessThan(500_000)
    const pages = await statements(async () => {
      for await (const piece of pieces) taken.push(piece)
    })
    // Six million bytes of events are a page of four and the rest, and the empty page that ends it.
    expect(pages).toBe(2)
    expect(taken.join('').split('"type":"INFO"')).toHaveLength(31)
  })

  test('of a session that is deleted meanwhile breaks off', async () => {
    const session = await given.session('Gone')
    const { pieces } = await begin(session, 'JSONL')
    await deleteSession(given.platform, callOf(given.owner), { sessionId: session })
    await expect(async () => {
      for await (const _ of pieces);
    }).rejects.toThrow('deleted')
  })

  test('is audited, and needs its own capability', async () => {
    const session = await given.session('Audited')
    const reader = await given.member(['session.read'])
    await expect(begin(session, 'JSON', reader)).rejects.toEqual(refusal('PERMISSION_DENIED'))
    const stranger = await given.member(['session.export'], {
      projectId: (await given.project('Other')).projectId,
    })
    await expect(begin(session, 'JSON', stranger)).rejects.toEqual(refusal('NOT_FOUND'))
    await begin(session, 'JSONL')
    const subjectId = encodeId({ type: 'Session', ...session })
    expect(await given.db.auditEntry.findMany({ where: { subjectId } })).toMatchObject([
      { action: 'session.export', actorId: given.owner.principalId, detail: { format: 'JSONL' } },
    ])
  })

  test('lets nothing that somebody wrote become part of the document', async () => {
    const session = await given.session('# A *title* <b>')
    await given.offered(session, 'First line\n# Not a heading\r\n> Not <script>')
    const text = await textOf(session, 'MARKDOWN')
    expect(text).toMatch(/^# \\# A \\\*title\\\* \\<b\\>\n/)
    expect(text).toContain('> First line\n> # Not a heading\n> > Not <script>')
  })
})

/** Text that does not compress. */
function randomText(length: number): string {
  let text = ''
  while (text.length < length) text += crypto.randomUUID()
  return text.slice(0, length)
}

describe('the name of a download', () => {
  const nameOf = (title: string) =>
    downloadHeaders('MARKDOWN', { id: '00000000-0000-7000-8000-00000000abcd', title })['content-disposition']
  test('is made of the title’s words, in every script, and plain ASCII beside it', () => {
    expect(nameOf('Prices: May / 价格')).toBe(
      `attachment; filename="session-00000000abcd.md"; filename*=UTF-8''Prices-May-${encodeURIComponent('价格')}.md`,
    )
  })
  test('holds nothing that a path or a header could trip over', () => {
    for (const title of ['../../etc/passwd', 'a"b;c\r\nx: y', '....', '😀']) {
      expect(nameOf(title)).toMatch(
        /^attachment; filename="session-[0-9a-f]{12}\.md"; filename\*=UTF-8''[\w%-]+\.md$/,
      )
    }
  })
})
