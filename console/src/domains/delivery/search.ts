import * as z from 'zod/mini'

/** Search parameters of the inbox: which item is open, which kinds and whose are shown. */
export const inboxSearch = z.object({
  item: z.catch(z.optional(z.string().check(z.minLength(1))), undefined),
  kind: z.catch(
    z.optional(
      z.enum([
        'TOOL_APPROVAL',
        'PLAN_APPROVAL',
        'QUESTION',
        'RUN_FAILED',
        'EFFECTS_UNKNOWN',
        'RUN_UNSUPPORTED',
      ]),
    ),
    undefined,
  ),
  whose: z.catch(z.optional(z.enum(['everybody'])), undefined),
})
export type InboxSearch = z.infer<typeof inboxSearch>
