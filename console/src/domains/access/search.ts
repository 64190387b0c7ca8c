import { z } from 'zod'

const text = z.string().optional().catch(undefined)

export const signInSearch = z.object({ next: text })

/** The audit page's filters; times are ISO, lists are kept in the order of choice. */
export const auditSearch = z.object({
  actor: text,
  actions: z.array(z.string()).optional().catch(undefined),
  subject: text,
  channels: z
    .array(z.enum(['CONSOLE', 'API', 'AGENT', 'SYSTEM']))
    .optional()
    .catch(undefined),
  from: text,
  to: text,
  entry: text,
  saved: text,
})
export type AuditSearch = z.infer<typeof auditSearch>

export const accessSearch = z.object({
  tab: z.enum(['principals', 'tokens', 'capabilities', 'view-as']).optional().catch(undefined),
  principal: text,
  token: text,
  filter: text,
  project: text,
})
export type AccessSearch = z.infer<typeof accessSearch>
