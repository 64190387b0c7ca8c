import { z } from 'zod'

/** Search parameters of the inbox: which item is open, which kinds and whose are shown. */
export const inboxSearch = z.object({
  item: z.string().min(1).optional().catch(undefined),
  kind: z
    .enum(['TOOL_APPROVAL', 'PLAN_APPROVAL', 'QUESTION', 'RUN_FAILED', 'EFFECTS_UNKNOWN'])
    .optional()
    .catch(undefined),
  whose: z.enum(['everybody']).optional().catch(undefined),
})
export type InboxSearch = z.infer<typeof inboxSearch>
