import * as z from 'zod/mini'

const word = z.catch(z.optional(z.string().check(z.minLength(1))), undefined)
const words = z.catch(z.optional(z.array(z.string()).check(z.minLength(1))), undefined)

/** What the address of the sessions list remembers: filters, order, and what is looked at. */
export const sessionsSearch = z.object({
  /** Text looked for; in titles and summaries, or in transcripts when `in` says so. */
  q: word,
  in: z.catch(z.optional(z.enum(['transcripts'])), undefined),
  state: z.catch(z.optional(z.enum(['OPEN', 'CLOSED'])), undefined),
  runs: words,
  model: word,
  waiting: z.catch(z.optional(z.boolean()), undefined),
  /** Active within so many hours. */
  within: z.catch(z.optional(z.int().check(z.positive())), undefined),
  order: z.catch(z.optional(z.enum(['LAST_ACTIVITY_ASC', 'CREATED_DESC', 'CREATED_ASC'])), undefined),
  /** The saved view these filters came from. */
  saved: word,
  /** The session whose peek is open. */
  peek: word,
})
export type SessionsSearch = z.infer<typeof sessionsSearch>

/** What the address of a session remembers: the open event, the view and its filters. */
export const sessionSearch = z.object({
  event: z.catch(z.optional(z.pipe(z.coerce.number(), z.int().check(z.positive()))), undefined),
  view: z.catch(z.optional(z.enum(['full'])), undefined),
  types: words,
  run: word,
  /** Which of the columns a phone shows. */
  tab: z.catch(z.optional(z.enum(['timeline', 'details'])), undefined),
})
export type SessionSearch = z.infer<typeof sessionSearch>
