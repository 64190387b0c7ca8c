import type { Client, Collected } from './client.ts'

/** What a watcher of a session gets. */
export interface Watched {
  __typename: 'SessionEvent' | 'WatchEnd'
  sequence: number
  type: string
  payload: Record<string, unknown>
  reason: string
  resumeAfter: number
  earliest: number | null
}

export const sessionWatch = `subscription($sessionId:ID!,$after:Int,$filter:SessionEventFilter,$queueSize:Int){
  sessionEvents(sessionId:$sessionId,after:$after,filter:$filter,queueSize:$queueSize){
    __typename ...on SessionEvent{sequence type payload} ...on WatchEnd{reason resumeAfter earliest}}}`

export interface WatchVariables {
  sessionId: string
  after?: number
  filter?: { types?: string[]; runIds?: string[] }
  queueSize?: number
}
export const watchSession = (client: Client, variables: WatchVariables) =>
  client.watch<Watched>(sessionWatch, variables)

export const sequencesOf = (items: Watched[]) =>
  items.filter((item) => item.__typename === 'SessionEvent').map((item) => item.sequence)
export const endsOf = (items: Watched[]) => items.filter((item) => item.__typename === 'WatchEnd')

/** The end of a watch, which must be its last item and its only one. */
export async function endOf(watch: Collected<Watched>): Promise<Watched> {
  await watch.ended
  const [end, ...more] = endsOf(watch.items)
  if (!end || more.length > 0 || watch.items.at(-1) !== end)
    throw new Error(
      `not one end, last: ${JSON.stringify(watch.items.slice(-3))} ${JSON.stringify(watch.failure())}`,
    )
  return end
}

/** The whole numbers from one to another, both included. */
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
