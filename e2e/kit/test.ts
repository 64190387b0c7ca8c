import { type BrowserContextOptions, test as base, expect, type Page } from '@playwright/test'
import type { Client } from '../../test/kit/client.ts'
import { Agent, type AgentRun } from './agent.ts'
import { givenRetailDay, type Retail } from './retail.ts'
import { type RunningServer, startServer } from './server.ts'

export { expect, type Page }

export const ownerIdentity = {
  name: 'Wei Zhang',
  email: 'wei@example.com',
  password: 'correct horse battery',
}

type StorageState = Exclude<NonNullable<BrowserContextOptions['storageState']>, string>

/** A project with a connected agent, and what a test makes happen in it over the API. */
export interface Project {
  id: string
  slug: string
  name: string
  api: Client
  agent: Agent
  path(page: string): string
  /** A session with a title; gives its id. */
  session(title: string): Promise<string>
  /** Sends a turn and lets the agent take it. */
  turn(sessionId: string, text: string): Promise<AgentRun>
}

interface WorkerFixtures {
  server: RunningServer
  /** The cookies of an owner who signed up by the one-time link. */
  ownerState: StorageState
  /** A project with much in it, which tests only look at. */
  retail: Retail & { project: Project }
}
export type WorkerOptions = WorkerFixtures
interface TestFixtures {
  project: Project
  /** Fails the test when a page threw, or broke its own content security policy. */
  noPageErrors: undefined
}

let count = 0

export const test = base.extend<TestFixtures, WorkerFixtures>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from here
    async ({}, use) => {
      const server = await startServer()
      await use(server)
      await server.close()
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  ownerState: [
    async ({ server, playwright }, use) => {
      const code = server.welcomeUrl?.split('#code=')[1]
      const request = await playwright.request.newContext({ baseURL: server.url })
      const answer = await request.post('/auth/redeem', { data: { code, ...ownerIdentity } })
      expect(answer.ok(), await answer.text()).toBe(true)
      const state = await request.storageState()
      await request.dispose()
      await use(state)
    },
    // Also where a test is signed out: a server without an owner is another story.
    { scope: 'worker', auto: true },
  ],
  retail: [
    async ({ server }, use) => {
      const project = await givenProject(server.owner, 'Retail insights')
      await use({ project, ...(await givenRetailDay(project)) })
      await project.agent.leaves()
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  storageState: async ({ ownerState }, use) => use(ownerState),
  project: async ({ server }, use) => {
    const project = await givenProject(server.owner)
    await use(project)
    await project.agent.leaves()
  },
  noPageErrors: [
    async ({ context }, use) => {
      const errors: string[] = []
      context.on('weberror', (error) => errors.push(String(error.error())))
      context.on('console', (message) => {
        if (/content security policy/i.test(message.text())) errors.push(message.text())
      })
      await use(undefined)
      expect(errors, 'errors on the page').toEqual([])
    },
    { auto: true },
  ],
})

/** As an owner does it: a principal of its own for the agent, and a token with what a runtime needs. */
async function givenAgentClient(api: Client, projectId: string): Promise<Client> {
  const capabilities = ['project.read', 'session.read', 'event.read', 'runtime.register', 'run.execute']
  const name = 'analyst agent'
  const grants = [{ projectId, capabilities }]
  const { principal } = await api.do<{ principal: { id: string } }>(
    'createPrincipal',
    { kind: 'RUNTIME', name, grants },
    'principal { id }',
  )
  const { secret } = await api.do<{ secret: string }>(
    'createToken',
    { name, principalId: principal.id, grants },
    'secret',
  )
  return api.as(secret)
}

export async function givenProject(api: Client, name?: string): Promise<Project> {
  count += 1
  const { project } = await api.do<{ project: { id: string; slug: string; name: string } }>(
    'createProject',
    { name: name ?? `Retail ${process.pid} ${count}` },
    'project { id slug name }',
  )
  const agent = await Agent.connect(await givenAgentClient(api, project.id), project.id)
  return {
    ...project,
    api,
    agent,
    path: (page) => `/p/${project.slug}/${page}`,
    async session(title) {
      const input = { projectId: project.id, title }
      const { session } = await api.do<{ session: { id: string } }>('createSession', input, 'session { id }')
      return session.id
    },
    async turn(sessionId, text) {
      await api.do('submitTurn', { sessionId, text }, 'cursor')
      return agent.takes()
    },
  }
}
