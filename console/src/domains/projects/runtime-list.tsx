import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useQuery, useSubscription } from 'urql'
import { EmptyState } from '../../kit/empty-state.tsx'
import { Timestamp } from '../../kit/timestamp.tsx'
import { ProjectRuntimes, RuntimeChanges } from './queries.ts'
import { projectsText } from './text.ts'

/** Who can take runs here, live. */
export function RuntimeList({ projectId }: { projectId: string }) {
  const t = projectsText.useText()
  const [{ data }, refresh] = useQuery({
    query: ProjectRuntimes,
    variables: { id: projectId },
    requestPolicy: 'cache-and-network',
  })
  const [{ data: change }] = useSubscription({ query: RuntimeChanges, variables: { projectId } })
  useEffect(() => {
    if (change) refresh({ requestPolicy: 'network-only' })
  }, [change, refresh])
  const runtimes = data?.project?.runtimes
  return (
    <section>
      <h2>{t('settings.runtimes')}</h2>
      {runtimes?.length === 0 && (
        <EmptyState
          title={t('settings.noRuntimes')}
          action={
            <Link to="/access" search={{ tab: 'tokens' }} className="link">
              {t('settings.noRuntimesHint')}
            </Link>
          }
        />
      )}
      {runtimes && runtimes.length > 0 && (
        <table className="runtime-table">
          <thead>
            <tr>
              <th scope="col">{t('settings.runtime')}</th>
              <th scope="col">{t('settings.state')}</th>
              <th scope="col">{t('settings.slots')}</th>
              <th scope="col">{t('settings.tools')}</th>
              <th scope="col">{t('settings.lastSeen')}</th>
            </tr>
          </thead>
          <tbody>
            {runtimes.map((runtime) => (
              <tr key={runtime.id}>
                <td>{runtime.name}</td>
                <td>
                  <span className="runtime-state" data-state={runtime.state}>
                    {t(runtime.state === 'CONNECTED' ? 'settings.connected' : 'settings.disconnected')}
                  </span>
                </td>
                <td className="num">
                  {runtime.liveRuns} / {runtime.maxConcurrentRuns}
                </td>
                <td className="num">{runtime.tools.length}</td>
                <td>
                  <Timestamp at={runtime.lastSeenAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
