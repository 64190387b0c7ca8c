import { Link } from '@tanstack/react-router'
import { useQuery, useSubscription } from 'urql'
import { graphql } from '../data/graphql.ts'
import { shellText } from './text.ts'
import type { ShellProject } from './viewer.ts'

const InboxCount = graphql(`
  query InboxCount($id: ID!) {
    project(id: $id) { id counts { inboxOpen } }
  }
`)
const InboxChanged = graphql(`
  subscription InboxChanged($projectId: ID) {
    inboxChanged(projectId: $projectId) { projectId open }
  }
`)

/** How many things wait in the project's inbox; this watch also keeps the shell's connection open. */
export function useInboxCount(projectId: string | undefined): number {
  const pause = !projectId
  const [{ data: first }] = useQuery({ query: InboxCount, variables: { id: projectId ?? '' }, pause })
  const [{ data: change }] = useSubscription({
    query: InboxChanged,
    variables: { projectId: projectId ?? null },
    pause,
  })
  const changed = change?.inboxChanged
  if (changed && (changed.projectId === projectId || changed.projectId === null)) return changed.open
  return first?.project?.counts.inboxOpen ?? 0
}

type NavigationProps = { project: ShellProject | undefined; waiting: number; onNavigate?: () => void }

export function Navigation({ project, waiting, onNavigate }: NavigationProps) {
  const t = shellText.useText()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside have the keyboard; this only closes the phone's drawer
    <nav className="shell-nav" aria-label={t('nav.label')} onClick={onNavigate}>
      {project && (
        <>
          <Link to="/p/$slug/inbox" params={project}>
            {t('nav.inbox')}
            {waiting > 0 && (
              <span className="shell-badge num" title={t('nav.waiting', { count: waiting })}>
                {waiting}
              </span>
            )}
          </Link>
          <Link to="/p/$slug/sessions" params={project}>
            {t('nav.sessions')}
          </Link>
          <Link to="/p/$slug/protocols" params={project}>
            {t('nav.protocols')}
          </Link>
          <Link to="/p/$slug/routing" params={project}>
            {t('nav.routing')}
          </Link>
          <hr />
          <Link to="/p/$slug/settings" params={project}>
            {t('nav.settings')}
          </Link>
          <Link to="/p/$slug/audit" params={project}>
            {t('nav.audit')}
          </Link>
          <hr />
        </>
      )}
      <Link to="/health">{t('nav.health')}</Link>
      {!project && <Link to="/audit">{t('nav.audit')}</Link>}
      <Link to="/access">{t('nav.access')}</Link>
    </nav>
  )
}
