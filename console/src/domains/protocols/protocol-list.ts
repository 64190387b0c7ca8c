import type { ProtocolSummary } from './queries.ts'
import type { ProtocolsSearch } from './search.ts'

/** A protocol, whatever its versions. */
export interface ProtocolListRow {
  /** Its id. */
  id: string
  newest: ProtocolSummary
  versions: number
}

/** One row for each protocol that the filter lets through, in the order of the server's. */
export function protocolList(
  protocols: readonly ProtocolSummary[],
  { q, kind }: Pick<ProtocolsSearch, 'q' | 'kind'>,
): ProtocolListRow[] {
  const wanted = q?.toLocaleLowerCase()
  return protocols
    .filter(({ latest }) => latest)
    .filter(({ builtIn }) => kind === undefined || builtIn === (kind === 'built-in'))
    .filter(({ title, name }) => !wanted || `${title}\n${name}`.toLocaleLowerCase().includes(wanted))
    .map((newest) => ({
      id: newest.protocolId,
      newest,
      versions: protocols.filter(({ protocolId }) => protocolId === newest.protocolId).length,
    }))
}
