import { decodeId } from '@wheelhouse/server/platform/ids'
import type { Client } from './client.ts'
import { missingLike } from './hostile-values.ts'
import type { Side } from './hostile-world.ts'

/** What a caller learns from an answer: codes and messages of all that was refused; or that nothing was. */
export interface Verdict {
  outcome: string
  text: string
}

export async function ask(client: Client, document: string, variables: object): Promise<Verdict> {
  const answer = await client.request(document, variables)
  const member = Object.values(answer.data ?? {})[0] as
    | { __typename?: string; code?: string; message?: string }
    | null
    | undefined
  const errors = (answer.errors ?? []).map((error) => `${error.extensions?.code} ${error.message}`)
  const problem = member?.code ? [`${member.__typename} ${member.code} ${member.message}`] : []
  const value = member && !member.code ? [member.__typename?.endsWith('Success') ? 'Success' : 'a value'] : []
  const mentioned = JSON.stringify([answer.errors?.map(({ message }) => message), answer.data ?? null])
  return { outcome: [...errors, ...problem, ...value].join(' | ') || 'null', text: mentioned }
}

/** The same variables with every id replaced by one that names nothing: `within` this project, or nowhere. */
export function withMissingIds<T>(variables: T, within?: string): T {
  const project = within === undefined ? undefined : decodeId(within)?.id
  const change = (value: unknown): unknown => {
    if (typeof value === 'string') return decodeId(value) ? missingLike(value, project) : value
    if (Array.isArray(value)) return value.map(change)
    if (value && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]))
    return value
  }
  return change(variables) as T
}

/** Whether an answer tells anything of a side: a text of it, or one of its ids that the question did not name. */
export function tellsOf(side: Side, text: string, sent: object): boolean {
  const known = JSON.stringify(sent)
  if (text.includes(side.name) && !known.includes(side.name)) return true
  return Object.values(side.ids).some((id) => text.includes(id) && !known.includes(id))
}
