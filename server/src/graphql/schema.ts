import { lexicographicSortSchema } from 'graphql'
import '../domains/access/graphql.ts'
import '../domains/projects/graphql.ts'
import '../domains/projects/feed/graphql.ts'
import '../domains/sessions/graphql.ts'
import '../domains/sessions/journal/graphql.ts'
import '../domains/sessions/lifecycle/graphql.ts'
import '../domains/runs/graphql.ts'
import '../domains/runs/commands.ts'
import '../domains/runs/approvals/graphql.ts'
import '../domains/runs/runtimes/subscription.ts'
import '../domains/delivery/graphql.ts'
//D import '../domains/health/graphql.ts'
import { builder } from './builder.ts'
import './problem-types.ts'
import './scalars.ts'

/** The executable schema, in one order whatever the order of its files. */
export const schema = lexicographicSortSchema(builder.toSchema())
