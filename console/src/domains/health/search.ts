import { z } from 'zod'

export const healthSearch = z.object({ panel: z.string().optional().catch(undefined) })
