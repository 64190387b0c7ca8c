import { z } from 'zod'

/** Search parameters of the inbox. */
export const inboxSearch = z.object({})
