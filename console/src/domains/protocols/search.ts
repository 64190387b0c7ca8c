import * as z from 'zod/mini'

const word = z.catch(z.optional(z.string().check(z.minLength(1))), undefined)
const version = z.catch(z.optional(z.int().check(z.positive())), undefined)

/** What the address of the protocols list remembers. */
export const protocolsSearch = z.object({
  q: word,
  kind: z.catch(z.optional(z.enum(['built-in', 'registered'])), undefined),
  /** The row that j and k walk from. */
  at: word,
})
export type ProtocolsSearch = z.infer<typeof protocolsSearch>

/** What the address of a protocol remembers. */
export const protocolSearch = z.object({
  /** The newest when absent. */
  version,
  tab: z.catch(z.optional(z.enum(['definition', 'compare', 'use'])), undefined),
  phase: word,
  /** The version that it is compared with; the one before when absent. */
  against: version,
  as: z.catch(z.optional(z.enum(['json', 'source'])), undefined),
})
export type ProtocolSearch = z.infer<typeof protocolSearch>

/** What the address of a new version remembers: the version that it begins as a copy of, as `id@version`. */
export const newProtocolSearch = z.object({ from: word })
