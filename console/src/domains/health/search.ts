import * as z from 'zod/mini'

export const healthSearch = z.object({ panel: z.catch(z.optional(z.string()), undefined) })
