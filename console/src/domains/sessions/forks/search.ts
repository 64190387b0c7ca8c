import * as z from 'zod/mini'

/** Which view of the branches; without it, what the width of the page calls for. */
export const branchesSearch = z.object({
  view: z.catch(z.optional(z.enum(['graph', 'list'])), undefined),
})
