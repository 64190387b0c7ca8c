/** What a decision was made from, as far as it has a known shape; the rest is shown as it is. */
export interface Evidence {
  task: { number: number; protocol: string; text: string } | null
  lastUserMessage: string | null
  lastAssistantMessage: string | null
  /** What a model answered, or the code of its failure; undefined where none was asked. */
  answer: unknown
  /** Why an owner decided otherwise. */
  reason: string | null
  /** Whether the messages before were looked at at all: not where a run is restored or an owner decides. */
  looked: boolean
  rest: { readonly [key: string]: unknown }
}

const record = (value: unknown): { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

export function readEvidence(value: unknown): Evidence {
  const all = record(value)
  const { task, lastUserMessage, lastAssistantMessage, answer, reason, ...rest } = all
  const { number, protocol, text: words } = record(task)
  return {
    task:
      typeof number === 'number' && typeof protocol === 'string'
        ? { number, protocol, text: text(words) ?? '' }
        : null,
    lastUserMessage: text(lastUserMessage),
    lastAssistantMessage: text(lastAssistantMessage),
    answer,
    reason: text(reason),
    looked: 'lastUserMessage' in all,
    rest,
  }
}
