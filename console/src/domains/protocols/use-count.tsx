import { Link } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { ProtocolUseCount } from './queries.ts'
import { protocolsText } from './text.ts'

type UseCountProps = { projectId: string; slug: string; protocolId: string }

/** How many sessions are under any version of a protocol now, as far as one small page counts them. */
export function UseCount({ projectId, slug, protocolId }: UseCountProps) {
  const t = protocolsText.useText()
  // The server takes the beginning of a name: with its @, it can't be the beginning of another id.
  const variables = { projectId, protocol: `${protocolId}@` }
  const [{ data }] = useQuery({ query: ProtocolUseCount, variables, requestPolicy: 'cache-and-network' })
  if (!data) return null
  const count = data.sessions.nodes.length
  if (count === 0) return <span className="mute">–</span>
  return (
    <Link
      to="/p/$slug/protocols/$protocolId"
      params={{ slug, protocolId }}
      search={{ tab: 'use' }}
      className="link"
    >
      {data.sessions.pageInfo.hasNextPage ? t('list.sessionsMore', { count }) : t('list.sessions', { count })}
    </Link>
  )
}
