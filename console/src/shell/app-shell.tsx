import { ActionIcon, Drawer } from '@mantine/core'
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { Provider, useQuery } from 'urql'
import { apiClient } from '../data/client.ts'
import { onRejected } from '../data/live.ts'
import { problemOf } from '../data/outcome.ts'
import { FailedState } from '../kit/empty-state.tsx'
import { keyCap, useKeys } from '../kit/keys.ts'
import { usePreferences } from '../kit/preferences.ts'
import { kitText } from '../kit/text.ts'
import { BrandMark } from './brand-mark.tsx'
import { Crumbs, CrumbTitleProvider } from './crumbs.tsx'
import { LiveIndicator } from './live-indicator.tsx'
import { Navigation, useInboxCount } from './navigation.tsx'
import { AppPending } from './pending.tsx'
import { PreferencesMenu } from './preferences-menu.tsx'
import { ProjectOfAddress, ShellQuery } from './queries.ts'
import { shellText } from './text.ts'
import { ViewerContext } from './viewer.ts'
import './app-shell.css'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))
const KeyboardSheet = lazy(() =>
  import('./keyboard-sheet.tsx').then(({ KeyboardSheet }) => ({ default: KeyboardSheet })),
)

export function AppShell() {
  return (
    <Provider value={apiClient()}>
      <CrumbTitleProvider>
        <Frame />
      </CrumbTitleProvider>
    </Provider>
  )
}

function Frame() {
  const t = shellText.useText()
  const kit = kitText.useText()
  const navigate = useNavigate()
  const [{ data, error }, refresh] = useQuery({ query: ShellQuery })
  const { slug } = useParams({ strict: false })
  const { lastProject } = usePreferences()
  const projects = useMemo(() => data?.projects.nodes ?? [], [data])
  const listed = projects.find((each) => each.slug === slug)
  const [{ data: other }] = useQuery({
    query: ProjectOfAddress,
    variables: { slug: slug ?? '' },
    pause: !slug || !data || listed !== undefined,
  })
  /** The project of the address, if it is there; the navigation offers the last one elsewhere. */
  const current = listed ?? (slug ? (other?.project ?? undefined) : undefined)
  const project = current ?? projects.find((each) => each.slug === lastProject) ?? projects[0]
  const waiting = useInboxCount(project?.id)
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  const [drawer, setDrawer] = useState(false)
  useEffect(() => onRejected(() => location.assign('/sign-in')), [])

  useKeys(
    t('keys.general'),
    useMemo(
      () => [
        { keys: 'mod+k', label: t('keys.palette'), run: () => setPalette(true) },
        { keys: '?', label: t('keys.sheet'), run: () => setSheet(true) },
        // Fields and dialogs answer it themselves; a page that has something to close binds it too.
        { keys: 'escape', label: t('keys.escape'), run: () => {} },
      ],
      [t],
    ),
  )
  useKeys(
    t('keys.go'),
    useMemo(() => {
      const inProject = project
        ? [
            {
              keys: 'g i',
              label: t('nav.inbox'),
              run: () => void navigate({ to: '/p/$slug/inbox', params: project }),
            },
            {
              keys: 'g s',
              label: t('nav.sessions'),
              run: () => void navigate({ to: '/p/$slug/sessions', params: project }),
            },
            {
              keys: 'g o',
              label: t('nav.protocols'),
              run: () => void navigate({ to: '/p/$slug/protocols', params: project }),
            },
            {
              keys: 'g r',
              label: t('nav.routing'),
              run: () => void navigate({ to: '/p/$slug/routing', params: project }),
            },
            {
              keys: 'g p',
              label: t('nav.settings'),
              run: () => void navigate({ to: '/p/$slug/settings', params: project }),
            },
          ]
        : []
      return [
        ...inProject,
        { keys: 'g h', label: t('nav.health'), run: () => void navigate({ to: '/health' }) },
        {
          keys: 'g u',
          label: t('nav.audit'),
          run: () =>
            void (project ? navigate({ to: '/p/$slug/audit', params: project }) : navigate({ to: '/audit' })),
        },
        { keys: 'g a', label: t('nav.access'), run: () => void navigate({ to: '/access' }) },
      ]
    }, [t, navigate, project]),
  )

  if (!data) {
    if (error) return <FailedState problem={problemOf(error)} onRetry={() => refresh()} />
    return <AppPending />
  }
  const { principal, capabilities } = data.viewer
  return (
    <ViewerContext value={{ ...principal, capabilities }}>
      <div className="shell">
        <a className="shell-skip" href="#main">
          {t('nav.skip')}
        </a>
        <header className="shell-header">
          <Link className="shell-brand" to="/">
            <BrandMark /> {t('product')}
          </Link>
          <div className="shell-top">
            <ActionIcon
              className="shell-burger"
              variant="subtle"
              color="gray"
              aria-label={t('nav.open')}
              onClick={() => setDrawer(true)}
            >
              <svg
                width="16"
                height="16"
                viewBox="0 0 16 16"
                stroke="currentColor"
                strokeWidth="1.5"
                aria-hidden="true"
              >
                <path d="M2 4h12M2 8h12M2 12h12" />
              </svg>
            </ActionIcon>
            <Crumbs
              project={current}
              projects={projects}
              canCreate={capabilities.includes('project.create')}
            />
            <span className="grow" />
            <button type="button" className="shell-search" onClick={() => setPalette(true)}>
              <svg
                width="16"
                height="16"
                viewBox="0 0 16 16"
                fill="none"
                stroke="currentColor"
                strokeWidth="1.5"
                aria-hidden="true"
              >
                <circle cx="7" cy="7" r="4.5" />
                <path d="m10.5 10.5 3.5 3.5" />
              </svg>
              <span>{t('palette.open')} </span>
              <kbd>{keyCap('mod+k')}</kbd>
            </button>
            <LiveIndicator watchable={project !== undefined} />
            <PreferencesMenu onKeyboard={() => setSheet(true)} />
          </div>
        </header>
        <Navigation project={project} waiting={waiting} />
        <main className="shell-main" id="main" tabIndex={-1}>
          <Suspense fallback={<AppPending />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Drawer
        closeButtonProps={{ 'aria-label': kit('close') }}
        opened={drawer}
        onClose={() => setDrawer(false)}
        size={260}
        title={t('product')}
      >
        <Navigation project={project} waiting={waiting} onNavigate={() => setDrawer(false)} />
      </Drawer>
      <Suspense fallback={null}>
        {palette && <Palette project={project} projects={projects} onClose={() => setPalette(false)} />}
        {sheet && <KeyboardSheet onClose={() => setSheet(false)} />}
      </Suspense>
    </ViewerContext>
  )
}
