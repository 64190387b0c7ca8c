import type { ObjectRef } from '@pothos/core'
import { type BuilderTypes, builder, limits } from './builder.ts'
import { defaultPage, maxPage } from './page.ts'

/** `<Name>Connection` and `<Name>Edge` of a node type, as `connectionOf` fills them. */
export const connectionType = <Row extends object>(name: string, type: ObjectRef<BuilderTypes, Row>) =>
  builder.connectionObject(
    { type, name: `${name}Connection`, description: `A page of a list of ${name}.` },
    { name: `${name}Edge`, description: `One ${name} of a list, with its cursor.` },
  )

/** The arguments of a list that pages forwards. */
export const forwardArgs = builder.args((t) => ({
  first: t.int({ description: `How many: 1 to ${maxPage}, ${defaultPage} when absent.` }),
  after: t.string({ description: 'The cursor after which the page begins.' }),
}))

/** What a page costs: as much as it may hold. */
export const pageCost = (args: { first?: number | null | undefined }) => ({
  field: 1,
  multiplier: Math.min(Math.max(args.first ?? defaultPage, 1), maxPage),
})

/**
 * What a page costs that belongs to a node: a read of its own in the database where many nodes are listed, so that one
 * operation asks for at most 1 000 of them.
 */
export const pageRead = limits.complexity / 1_000
export const ownPageCost = (args: { first?: number | null | undefined }) => ({
  ...pageCost(args),
  field: pageRead,
})
