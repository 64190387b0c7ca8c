import type { TadaDocumentNode } from 'gql.tada'
import { stringifyDocument } from 'urql'
import { apiHeaders } from '../../data/client.ts'
import { graphql } from '../../data/graphql.ts'
import type { EventFilter, JournalPage } from './event-window.ts'
import { type SessionEvent, SessionEventFields } from './session-event.ts'

/** Events a page asks for: a few screens, and well below what the server allows of this selection. */
export const PAGE = 100
/** Events a filtered page may look through before it answers, so that a filter without hits stays quick. */
const SCAN = 10_000

const EventPageFields = graphql(
  `
  fragment EventPageFields on EventPage @_unmask {
    cursor
    hasMore
    latest
    earliest
    events { ...SessionEventFields }
  }
`,
  [SessionEventFields],
)

const EarlierEvents = graphql(
  `
  query EarlierEvents($id: ID!, $before: Int, $last: Int!, $filter: SessionEventFilter, $scanLimit: Int) {
    session(id: $id) {
      id
      eventsBefore(before: $before, last: $last, filter: $filter, scanLimit: $scanLimit) { ...EventPageFields }
    }
  }
`,
  [EventPageFields],
)

const LaterEvents = graphql(
  `
  query LaterEvents($id: ID!, $after: Int!, $first: Int!, $filter: SessionEventFilter, $scanLimit: Int) {
    session(id: $id) {
      id
      events(after: $after, first: $first, filter: $filter, scanLimit: $scanLimit) { ...EventPageFields }
    }
  }
`,
  [EventPageFields],
)

const OneEvent = graphql(
  `
    query OneEvent($id: ID!, $sequence: Int!) {
      session(id: $id) { id event(sequence: $sequence) { ...SessionEventFields } }
    }
  `,
  [SessionEventFields],
)

const AnswerSoFar = graphql(`
  query AnswerSoFar($id: ID!, $before: Int!, $runId: ID!) {
    session(id: $id) {
      id
      eventsBefore(before: $before, last: 500, filter: { types: [ANSWER_DELTA], runIds: [$runId] }) {
        cursor
        hasMore
        events { sequence detail { __typename ... on TextDetail { text } } }
      }
    }
  }
`)

/** Pages of a streamed answer that are read back; the whole of it is there once the run has ended. */
const MOST_ANSWER_PAGES = 8

/** Thrown by the readers; `code` is the server's, or NETWORK. */
export class JournalError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Pages of the journal stay out of the normalized cache: a long history would only fill it. */
async function ask<Data, Variables>(
  document: TadaDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const response = await fetch('/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...apiHeaders },
    body: JSON.stringify({ query: stringifyDocument(document), variables }),
  }).catch((cause: unknown) => {
    throw new JournalError('NETWORK', String(cause))
  })
  const answer = (await response.json().catch(() => null)) as {
    data?: Data | null
    errors?: { message: string; extensions?: { code?: string } }[]
  } | null
  const error = answer?.errors?.[0]
  if (error !== undefined) throw new JournalError(error.extensions?.code ?? 'INTERNAL', error.message)
  if (answer?.data == null) throw new JournalError('NETWORK', `HTTP ${response.status}`)
  return answer.data
}

function scanOf(filter: EventFilter) {
  const filtered = filter.types.length > 0 || filter.runIds.length > 0
  if (!filtered) return {}
  return {
    scanLimit: SCAN,
    filter: {
      ...(filter.types.length > 0 ? { types: [...filter.types] } : {}),
      ...(filter.runIds.length > 0 ? { runIds: [...filter.runIds] } : {}),
    },
  }
}

/** The last events before a sequence (exclusive), or of the whole journal when it is null. */
export async function readBefore(
  id: string,
  before: number | null,
  filter: EventFilter,
  last = PAGE,
): Promise<JournalPage> {
  const data = await ask(EarlierEvents, { id, before, last, ...scanOf(filter) })
  return pageOf(data.session?.eventsBefore)
}

/** The first events after a sequence (exclusive). */
export async function readAfter(
  id: string,
  after: number,
  filter: EventFilter,
  first = PAGE,
): Promise<JournalPage> {
  const data = await ask(LaterEvents, { id, after, first, ...scanOf(filter) })
  return pageOf(data.session?.events)
}

/** One event, or null where retention has removed it or the session has not come so far. */
export async function readEvent(id: string, sequence: number): Promise<SessionEvent | null> {
  const data = await ask(OneEvent, { id, sequence })
  return data.session?.event ?? null
}

/**
 * What a run has answered up to and including a sequence, from its streamed parts. Of a very long answer
 * only the end, marked by an ellipsis.
 * @param from where the run began: nothing before it is its answer
 */
export async function readAnswer(id: string, runId: string, from: number, upTo: number): Promise<string> {
  let text = ''
  let before = upTo + 1
  for (let read = 0; read < MOST_ANSWER_PAGES; read++) {
    const page = (await ask(AnswerSoFar, { id, before, runId })).session?.eventsBefore
    if (page === undefined) return text
    const parts = page.events.map(({ detail }) => (detail?.__typename === 'TextDetail' ? detail.text : ''))
    text = parts.join('') + text
    before = page.cursor
    if (!page.hasMore || before <= from) return text
  }
  return `…${text}`
}

function pageOf(page: JournalPage | undefined): JournalPage {
  if (page === undefined) throw new JournalError('NOT_FOUND', 'session')
  return page
}
