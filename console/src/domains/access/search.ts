import * as z from 'zod/mini'

const text = z.catch(z.optional(z.string()), undefined)

export const signInSearch = z.object({ next: text })

/** The audit page's filters; times are ISO, lists are kept in the order of choice. */
export const auditSearch = z.object({
  actor: text,
  actions: z.catch(z.optional(z.array(z.string())), undefined),
  subject: text,
  channels: z.catch(z.optional(z.array(z.enum(['CONSOLE', 'API', 'AGENT', 'SYSTEM']))), undefined),
  from: text,
  to: text,
  entry: text,
  saved: text,
})
export type AuditSearch = z.infer<typeof auditSearch>

export const accessSearch = z.object({
  tab: z.catch(z.optional(z.enum(['principals', 'tokens', 'capabilities', 'view-as'])), undefined),
  principal: text,
  token: text,
  filter: text,
  project: text,
})
export type AccessSearch = z.infer<typeof accessSearch>
