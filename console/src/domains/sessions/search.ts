import { z } from 'zod'

/** Search parameters of the sessions list: what the address remembers. */
export const sessionsSearch = z.object({})

/** Search parameters of one session's page. */
export const sessionSearch = z.object({
  event: z.coerce.number().int().positive().optional().catch(undefined),
})
