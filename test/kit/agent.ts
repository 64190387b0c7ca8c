import { createPrincipal, createToken } from '@wheelhouse/server/domains/access/principals/operations'
import type { Viewer } from '@wheelhouse/server/domains/access/rules'
import { createProject } from '@wheelhouse/server/domains/projects/operations'
import { requestApproval } from '@wheelhouse/server/domains/runs/approvals/operations'
import {
  completeRun,
  failRun,
  recordRunEvents,
  startRun,
} from '@wheelhouse/server/domains/runs/execution/operations'
import { registerRuntime } from '@wheelhouse/server/domains/runs/runtimes/operations'
import { submitTurn } from '@wheelhouse/server/domains/runs/submission/operations'
import { createSession } from '@wheelhouse/server/domains/sessions/lifecycle/operations'
import type { Ref } from '@wheelhouse/server/platform/ids'
import { callOf, givenOwner, signIn, startPlatform, type TestPlatform } from './platform.ts'

/** A project with its owner and one connected runtime, and the verbs with which a test tells its story. */
export interface Story extends TestPlatform {
  owner: Viewer
  agent: Viewer
  projectId: string
  runtimeId: Ref
  /** Another principal with these capabilities, on the project unless told otherwise. */
  member(capabilities: string[], scope?: { projectId?: string; sessionId?: string }): Promise<Viewer>
  project(name: string): Promise<{ projectId: string; runtimeId: Ref }>
  session(title?: string, projectId?: string): Promise<Ref>
  /** Submits a turn; the offer is not taken yet. */
  offered(session: Ref, text?: string): Promise<Ref>
  /** Submits a turn and starts it. */
  running(session: Ref, text?: string): Promise<{ run: Ref; runToken: string }>
  asks(
    run: { run: Ref; runToken: string },
    title: string,
    more?: { kind?: 'TOOL' | 'PLAN' | 'QUESTION'; expiresAt?: Date },
  ): Promise<Ref>
  says(run: { run: Ref; runToken: string }, events: { type: string; payload: object }[]): Promise<void>
  fails(run: { run: Ref; runToken: string }, message?: string): Promise<void>
  completes(run: { run: Ref; runToken: string }, answer: string): Promise<void>
}

export async function startStory(): Promise<Story> {
  const given = await startPlatform()
  const { platform } = given
  const { viewer: owner } = await givenOwner(given)
  const member: Story['member'] = async (capabilities, scope = { projectId: first.projectId }) => {
    const grants = [{ capabilities, ...scope }]
    const name = capabilities.join(' ')
    const { principalId } = await createPrincipal(platform, callOf(owner), { kind: 'SERVICE', name, grants })
    const { secret } = await createToken(platform, callOf(owner), { name, principalId, grants })
    return signIn(platform, secret)
  }
  const agent = await member(['run.execute', 'runtime.register'], {})
  const project: Story['project'] = async (name) => {
    const { projectId } = await createProject(platform, callOf(owner), { name })
    const { runtimeId } = await registerRuntime(platform, callOf(agent), {
      projectId,
      name: 'agent',
      kinds: [],
      maxConcurrentRuns: 1_000,
      tools: [],
    })
    await given.db.project.update({ where: { id: projectId }, data: { maxConcurrentRuns: 1_000 } })
    return { projectId, runtimeId: { projectId, id: runtimeId } }
  }
  const first = await project('First')
  const offered: Story['offered'] = async (sessionId, text = 'Do it.') => {
    const { runId } = await submitTurn({ ...platform, classifier: null }, callOf(owner), { sessionId, text })
    return { projectId: sessionId.projectId, id: runId }
  }
  const story: Story = {
    ...given,
    ...first,
    owner,
    agent,
    member,
    project,
    offered,
    async session(title, projectId = first.projectId) {
      const { sessionId } = await createSession(platform, callOf(owner), { projectId, title })
      return { projectId, id: sessionId }
    },
    async running(session, text) {
      const run = await offered(session, text)
      const row = await given.db.run.findUniqueOrThrow({ where: { projectId_id: run } })
      const runtimeId = { projectId: run.projectId, id: row.runtimeId }
      const { runToken } = await startRun(platform, callOf(agent), { runId: run, runtimeId })
      return { run, runToken }
    },
    async asks({ run, runToken }, title, { kind = 'TOOL', expiresAt } = {}) {
      const question = kind === 'QUESTION' ? { options: ['yes', 'no'], defaultDecision: 'no' } : {}
      const { approvalId } = await requestApproval(platform, callOf(agent), {
        runId: run,
        runToken,
        kind,
        title,
        payload: {},
        expiresAt,
        ...question,
      })
      return { projectId: run.projectId, id: approvalId }
    },
    async says({ run, runToken }, events) {
      await recordRunEvents(platform, callOf(agent), { runId: run, runToken, events: events as never })
    },
    async fails({ run, runToken }, message = 'It broke.') {
      await failRun(platform, callOf(agent), { runId: run, runToken, code: 'BROKEN', message })
    },
    async completes({ run, runToken }, answer) {
      await completeRun(platform, callOf(agent), { runId: run, runToken, answer })
    },
  }
  return story
}
