import { z } from 'zod'

const word = z.string().min(1).optional().catch(undefined)
const words = z.array(z.string()).min(1).optional().catch(undefined)

/** What the address of the sessions list remembers: filters, order, and what is looked at. */
export const sessionsSearch = z.object({
  /** Text looked for; in titles and summaries, or in transcripts when `in` says so. */
  q: word,
  in: z.enum(['transcripts']).optional().catch(undefined),
  state: z.enum(['OPEN', 'CLOSED']).optional().catch(undefined),
  runs: words,
  model: word,
  waiting: z.boolean().optional().catch(undefined),
  /** Active within so many hours. */
  within: z.number().int().positive().optional().catch(undefined),
  order: z.enum(['LAST_ACTIVITY_ASC', 'CREATED_DESC', 'CREATED_ASC']).optional().catch(undefined),
  /** The saved view these filters came from. */
  saved: word,
  /** The session whose peek is open. */
  peek: word,
})
export type SessionsSearch = z.infer<typeof sessionsSearch>

/** What the address of a session remembers: the open event, the view and its filters. */
export const sessionSearch = z.object({
  event: z.coerce.number().int().positive().optional().catch(undefined),
  view: z.enum(['full']).optional().catch(undefined),
  types: words,
  run: word,
  /** Which of the columns a phone shows. */
  tab: z.enum(['timeline', 'details']).optional().catch(undefined),
})
export type SessionSearch = z.infer<typeof sessionSearch>
