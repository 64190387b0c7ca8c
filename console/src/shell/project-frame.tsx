import { Outlet, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useQuery } from 'urql'
import { problemOf } from '../data/outcome.ts'
import { useGuidedSession } from '../domains/projects/guide-state.ts'
import { EmptyState, FailedState } from '../kit/empty-state.tsx'
import { setPreferences } from '../kit/preferences.ts'
import { AppPending } from './pending.tsx'
import { ProjectOfAddress } from './queries.ts'
import { shellText } from './text.ts'
import { ProjectContext } from './viewer.ts'

const Guide = lazy(() => import('../domains/projects/guide.tsx').then(({ Guide }) => ({ default: Guide })))

/** Everything below `/p/$slug`: resolves the project once and remembers it as the last one. */
export function ProjectFrame() {
  const t = shellText.useText()
  const { slug } = useParams({ from: '/app/p/$slug' })
  const [{ data, error, fetching }, refresh] = useQuery({ query: ProjectOfAddress, variables: { slug } })
  const { sessionId } = useParams({ strict: false })
  const guided = useGuidedSession()
  const found = data?.project
  useEffect(() => {
    if (found) setPreferences({ lastProject: found.slug })
  }, [found])
  const guide = guided && guided === sessionId ? <Guide sessionId={guided} /> : null
  if (found)
    return (
      <ProjectContext value={found}>
        {guide ? (
          <div className="guided">
            <Suspense fallback={<AppPending />}>{guide}</Suspense>
            <Outlet />
          </div>
        ) : (
          <Outlet />
        )}
      </ProjectContext>
    )
  if (fetching) return <AppPending />
  const problem = error && problemOf(error)
  if (problem && problem.code !== 'NOT_FOUND')
    return <FailedState problem={problem} onRetry={() => refresh()} />
  return <EmptyState title={t('error.noProject')} />
}
