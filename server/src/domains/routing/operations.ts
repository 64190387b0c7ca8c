import type { Ref } from '../../platform/ids.ts'
import { accept } from '../../platform/refusal.ts'
import type { Platform } from '../../platform/transaction.ts'
import { headOf, type NumberedHead } from '../intents/operations.ts'
import { render } from '../intents/rules.ts'
import { protocolsOf } from '../protocols/operations.ts'
import type { Protocol } from '../protocols/rules.ts'
import { type Answer, type Failure, type Routed, type RouteInput, route, settle } from './rules.ts'
import * as store from './store.ts'

export { routePage as listRoutes } from './store.ts'

/** What a model is asked: the message, what to choose from, and the budgeted, untrusted background. */
export interface Question {
  message: string
  protocols: readonly Protocol[]
  head: { rendering: string; protocol: string } | null
  summary: string | null
  /** What people said last, oldest first, the message itself not among it. */
  recent: readonly string[]
}
export interface Classified {
  answer: Answer | Failure
  milliseconds: number
  tokens: number | null
}
/** One structured question to a model; it never throws, and never takes longer than its time. */
export type Classifier = (question: Question) => Promise<Classified>

export interface RoutedTurn extends Routed {
  head: NumberedHead | null
  protocolNow: Protocol
  /** The message that became the task, where it is not the turn's own. */
  task: { text: string; messageId: string } | null
  confidences: object | null
  classifierMs: number | null
  classifierTokens: number | null
  evidence: object
}

const said = 6
const fromPeople = new Set(['OWNER', 'MEMBER', 'CHANNEL'])
const excerpt = (text: string | undefined) => text?.slice(0, 500) ?? null

/**
 * Routes a message of a session by what is committed now: rules first, and only what they leave open is asked of the
 * model, where there is one. `beforeAsking` may refuse what could not be taken anyway, so that no call is spent on it.
 * PROTOCOL_UNKNOWN and PROTOCOL_NOT_AUTHORIZED for a protocol that the caller named.
 */
export async function routeTurn(
  platform: Platform & { classifier: Classifier | null },
  turn: { session: Ref; text: string; protocol?: string | undefined },
  beforeAsking: () => Promise<void>,
): Promise<RoutedTurn> {
  const { db } = platform
  const [head, context, protocols] = await Promise.all([
    headOf(db, turn.session),
    store.lastSaid(db, turn.session, said),
    protocolsOf(db, turn.session.projectId),
  ])
  const people = context.said.filter(({ authority }) => fromPeople.has(authority))
  const lastUser = people[0] ?? null
  const lastAssistant = context.said.find(({ authority }) => authority === 'AGENT') ?? null
  const input: RouteInput = {
    message: turn.text,
    explicitProtocol: turn.protocol,
    head,
    lastUserMessage: lastUser?.text ?? null,
    lastAssistantMessage: lastAssistant?.text ?? null,
    protocols: protocols.all,
    allowed: protocols.allowed,
  }
  const outcome = accept(route(input))
  const evidence = {
    task: head && { number: head.number, protocol: head.protocol, text: excerpt(head.text) },
    lastUserMessage: excerpt(lastUser?.text),
    lastAssistantMessage: excerpt(lastAssistant?.text),
  }
  let routed: Routed
  let classified: Classified | null = null
  if ('routed' in outcome) routed = outcome.routed
  else {
    classified = await ask(platform.classifier, beforeAsking, {
      message: turn.text,
      protocols: outcome.undecided.protocols,
      head: head && { rendering: render(head), protocol: head.protocol },
      summary: context.summary,
      recent: people
        .slice(0, 2)
        .map(({ text }) => text)
        .reverse(),
    })
    routed = settle(input, outcome.undecided, classified?.answer ?? 'CLASSIFIER_OFF')
  }
  const answer = classified && typeof classified.answer === 'object' ? classified.answer : null
  const protocolNow = protocols.all.find(({ id, version }) => `${id}@${version}` === routed.protocol)
  if (!protocolNow) throw new Error('a message was routed to a protocol that is not there')
  return {
    ...routed,
    head,
    protocolNow,
    task: routed.taskFromPrevious && lastUser ? { text: lastUser.text, messageId: lastUser.id } : null,
    confidences: answer?.confidence ?? null,
    classifierMs: classified ? Math.round(classified.milliseconds) : null,
    classifierTokens: classified?.tokens ?? null,
    evidence: classified ? { ...evidence, answer: classified.answer } : evidence,
  }
}

async function ask(
  classifier: Classifier | null,
  beforeAsking: () => Promise<void>,
  question: Question,
): Promise<Classified | null> {
  if (!classifier) return null
  await beforeAsking()
  return classifier(question)
}
