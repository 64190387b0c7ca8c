import type { AllowedAction } from '../domains/access/rules.ts'
import { builder } from './builder.ts'

/** What the caller may do with a thing now, decided by the same rules that the operation asks. */
export const AllowedActionRef = builder.objectRef<AllowedAction>('AllowedAction').implement({
  description: 'An operation on this thing, and whether the caller may call it as things are.',
  fields: (t) => ({
    action: t.exposeString('action', { description: 'The name of the mutation.' }),
    allowed: t.exposeBoolean('allowed', { description: 'Whether it would be let through now.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why not, in words.' }),
  }),
})
