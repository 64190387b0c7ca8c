import { startApp, type TestApp } from './app.ts'
import { readDigest } from './hostile-digest.ts'
import { knownCodes, type Operation, operationsOf, readSchema, slotsOf, withAt } from './hostile-schema.ts'
import { canary, type Hostile, hostileFor, jsonWith, seeded } from './hostile-values.ts'
import { Side } from './hostile-world.ts'

/*
 * Every field of every operation of the served schema, each with what it should not be. `TEST_SEED` chooses what is
 * tried of the odd values, `TEST_LONG=1` tries all of them.
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const odd = process.env.TEST_LONG === '1' ? null : 2

export interface World {
  app: TestApp
  /** The caller's own project, and one of somebody else. */
  here: Side
  there: Side
  operations: Operation[]
}

export async function startWorld(): Promise<World> {
  const app = await startApp()
  const here = await new Side(app, 'alpha').build()
  const there = await new Side(app, 'zebra').build()
  return { app, here, there, operations: operationsOf(await readSchema(app.owner)) }
}

interface ApiError {
  message: string
  extensions?: { code?: string }
}
export interface Answer {
  status: number
  text: string
  body: { data?: Record<string, unknown> | null; errors?: ApiError[] }
}

/** One try: a place of an operation's variables, and what is put there. */
export interface Try {
  operation: Operation
  variables: Record<string, unknown>
  path: (string | number)[]
  hostile: Hostile
}
export const bodyOf = ({ operation, variables, path, hostile }: Try) =>
  jsonWith(
    (value) => ({
      query: operation.document,
      variables: withAt(variables, path, value, hostile.absent === true),
    }),
    hostile,
  )
export const labelOf = ({ operation, path, hostile }: Try) =>
  `${operation.name} ${path.join('.')} = ${hostile.label}`

/** All the tries of one operation, in an order that the seed fixes. */
export function* triesOf(world: World, operation: Operation) {
  const random = seeded(seed)
  for (const { path, slot } of operation.args.flatMap((arg) => slotsOf(operation, arg))) {
    const foreign = slot.node ? world.there.ids[slot.node] : undefined
    for (const hostile of hostileFor({ ...slot, foreign }, random, odd)) yield { path, hostile }
  }
}

/** What only the server's own files and statements say. */
const inside = /node_modules|\.[tj]s:\d|prisma|\bSELECT\b|\bINSERT\b|postgres|\bat .+\(.+:\d+:\d+\)/i

/** What is wrong with an error as callers see it. */
export function flawsOfError({ message, extensions }: ApiError): string[] {
  const flaws: string[] = []
  if (!knownCodes.has(extensions?.code ?? '')) flaws.push(`code ${extensions?.code}: ${message}`)
  if (inside.test(message)) flaws.push(`tells of the inside: ${message}`)
  if (message.includes(canary)) flaws.push(`repeats the value: ${message.slice(0, 200)}`)
  return flaws
}

function judge({ status, body, text }: Answer): { flaws: string[]; wrote: boolean } {
  const flaws = (body.errors ?? []).flatMap(flawsOfError)
  if (status >= 500) flaws.push(`status ${status}`)
  const member = Object.values(body.data ?? {})[0] as
    | { __typename?: string; code?: string }
    | null
    | undefined
  const wrote = member?.__typename?.endsWith('Success') ?? false
  const refused = !wrote && (body.errors !== undefined || member?.code !== undefined)
  if (member?.code !== undefined && !knownCodes.has(member.code)) flaws.push(`code ${member.code}`)
  if (refused && text.includes(canary)) flaws.push(`repeats the value: ${text.slice(0, 200)}`)
  if (refused && text.length > 20_000) flaws.push(`is an answer of ${text.length} characters`)
  return { flaws, wrote }
}

async function send(attempt: Try, token: string, url: string): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: bodyOf(attempt),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Answer['body'] }
}

/**
 * Puts every hostile value into every place of these operations, over HTTP. Gives a line for each answer that is not a
 * value, a typed problem or an error with a known code, and for each refusal after which something was written.
 */
export async function tryEverything(world: World, kind: Operation['kind']): Promise<string[]> {
  const { app, here } = world
  const digest = await readDigest(app.db)
  const flaws: string[] = []
  for (const operation of world.operations.filter((each) => each.kind === kind)) {
    let variables: Record<string, unknown> | null = null
    let before: string | null = null
    for (const { path, hostile } of triesOf(world, operation)) {
      variables ??= await operation.variables(here)
      before ??= await digest()
      const attempt = { operation, variables, path, hostile }
      const answer = await send(attempt, operation.caller(here).token, app.url).catch(String)
      const { flaws: found, wrote } =
        typeof answer === 'string' ? { flaws: [`no answer: ${answer}`], wrote: false } : judge(answer)
      if (wrote) {
        variables = null
        before = null
      } else if ((await digest()) !== before) {
        found.push('was refused, and yet something was written')
        before = null
      }
      flaws.push(...found.map((flaw) => `${labelOf(attempt)}: ${flaw}`))
    }
  }
  return flaws
}
