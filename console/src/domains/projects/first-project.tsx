import { Navigate } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { graphql } from '../../data/graphql.ts'
import { problemOf } from '../../data/outcome.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { AppPending } from '../../shell/pending.tsx'

const FirstProjectQuery = graphql(`
  query FirstProject {
    projects(first: 1) { nodes { id slug } }
  }
`)

/** `/` without a remembered project: the first one, or the form that makes it. */
export function FirstProject() {
  const [{ data, error }, refresh] = useQuery({ query: FirstProjectQuery })
  if (error && !data) return <FailedState problem={problemOf(error)} onRetry={() => refresh()} />
  if (!data) return <AppPending />
  const first = data.projects.nodes[0]
  if (!first) return <Navigate to="/projects/new" replace />
  return <Navigate to="/p/$slug/inbox" params={{ slug: first.slug }} replace />
}
