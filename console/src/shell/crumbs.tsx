import { Menu } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react'
import { shellText } from './text.ts'
import type { ShellProject } from './viewer.ts'

type CrumbState = { title: string | undefined; setTitle: (title: string | undefined) => void }
const CrumbContext = createContext<CrumbState>({ title: undefined, setTitle: () => {} })

export function CrumbTitleProvider({ children }: { children: ReactNode }) {
  const [title, setTitle] = useState<string>()
  return <CrumbContext value={useMemo(() => ({ title, setTitle }), [title])}>{children}</CrumbContext>
}

/** The last crumb of a page about one record, for example the session's title; also the window's title. */
export function useCrumb(title: string | undefined): void {
  const { setTitle } = use(CrumbContext)
  useEffect(() => {
    setTitle(title)
    return () => setTitle(undefined)
  }, [title, setTitle])
}

const sections = [
  'inbox',
  'sessions',
  'protocols',
  'routing',
  'settings',
  'health',
  'audit',
  'access',
] as const
type Section = (typeof sections)[number]

type CrumbsProps = {
  project: ShellProject | undefined
  projects: readonly ShellProject[]
  canCreate: boolean
}

export function Crumbs({ project, projects, canCreate }: CrumbsProps) {
  const t = shellText.useText()
  const { title } = use(CrumbContext)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const parts = path.split('/').filter(Boolean)
  const inProject = parts[0] === 'p'
  const word = parts[inProject ? 2 : 0]
  const section = sections.find((each): each is Section => each === word)
  const name = section && t(`nav.${section}`)
  useEffect(() => {
    document.title = [title ?? name, inProject ? project?.name : undefined, t('product')]
      .filter(Boolean)
      .join(' · ')
  }, [title, name, inProject, project, t])
  return (
    <ol className="crumbs">
      {inProject && project && (
        <li>
          <Menu position="bottom-start" width={240} withinPortal={false}>
            <Menu.Target>
              <button type="button" className="truncate" aria-label={`${project.name}. ${t('nav.projects')}`}>
                {project.name}
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {projects.map((each) => (
                <Menu.Item
                  key={each.id}
                  renderRoot={(props) => <Link to="/p/$slug/inbox" params={each} {...props} />}
                >
                  {each.name}
                </Menu.Item>
              ))}
              {canCreate && <Menu.Divider />}
              {canCreate && (
                <Menu.Item renderRoot={(props) => <Link to="/projects/new" {...props} />}>
                  {t('nav.newProject')}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </li>
      )}
      {section && (
        <li>
          {title && project && section === 'sessions' ? (
            <Link to="/p/$slug/sessions" params={project} activeOptions={{ exact: true }}>
              {name}
            </Link>
          ) : (
            <span aria-current={title ? undefined : 'page'}>{name}</span>
          )}
        </li>
      )}
      {title && (
        <li>
          <span className="truncate" aria-current="page">
            {title}
          </span>
        </li>
      )}
    </ol>
  )
}
