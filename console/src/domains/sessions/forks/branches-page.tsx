import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { graphql } from '../../../data/graphql.ts'
import { problemOf } from '../../../data/outcome.ts'
import { EmptyState, FailedState } from '../../../kit/empty-state.tsx'
import { useCrumb } from '../../../shell/crumbs.tsx'
import { AppPending } from '../../../shell/pending.tsx'
import { useProject } from '../../../shell/viewer.ts'
import { sessionText } from '../text.ts'
import { BranchGraph } from './branch-graph.tsx'
import { forksText } from './text.ts'

const BranchesTitle = graphql(`
  query BranchesTitle($id: ID!) {
    session(id: $id) { id title }
  }
`)

/** `/sessions/<id>/branches`: the family of a session with all the room there is. */
export function BranchesPage() {
  const t = forksText.useText()
  const words = sessionText.useText()
  const project = useProject()
  const { sessionId } = useParams({ from: '/app/p/$slug/sessions/$sessionId/branches' })
  const { view } = useSearch({ from: '/app/p/$slug/sessions/$sessionId/branches' })
  const navigate = useNavigate()
  const [{ data, error, fetching }, refresh] = useQuery({
    query: BranchesTitle,
    variables: { id: sessionId },
  })
  const session = data?.session
  useCrumb(session?.title)
  if (!session) {
    if (fetching) return <AppPending />
    const problem = error && problemOf(error)
    if (problem && problem.code !== 'NOT_FOUND')
      return <FailedState problem={problem} onRetry={() => refresh()} />
    return <EmptyState title={words('tail.deleted')} />
  }
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <Link
          className="link truncate"
          to="/p/$slug/sessions/$sessionId"
          params={{ slug: project.slug, sessionId }}
        >
          {session.title}
        </Link>
      </div>
      <div className="page-body">
        <BranchGraph
          key={sessionId}
          projectId={project.id}
          sessionId={sessionId}
          view={view}
          onView={(next) =>
            void navigate({
              to: '/p/$slug/sessions/$sessionId/branches',
              params: { slug: project.slug, sessionId },
              search: { view: next },
              replace: true,
            })
          }
          onForked={(id) =>
            void navigate({
              to: '/p/$slug/sessions/$sessionId',
              params: { slug: project.slug, sessionId: id },
            })
          }
        />
      </div>
    </div>
  )
}
