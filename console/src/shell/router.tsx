import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { accessSearch, auditSearch, signInSearch } from '../domains/access/search.ts'
import { inboxSearch } from '../domains/delivery/search.ts'
import { healthSearch } from '../domains/health/search.ts'
import { newProtocolSearch, protocolSearch, protocolsSearch } from '../domains/protocols/search.ts'
import { routingSearch } from '../domains/routing/search.ts'
import { branchesSearch } from '../domains/sessions/forks/search.ts'
import { sessionSearch, sessionsSearch } from '../domains/sessions/search.ts'
import { preferences } from '../kit/preferences.ts'
import { authState } from './auth.ts'
import { ErrorScreen, NotFoundScreen } from './error-screen.tsx'
import { AppPending } from './pending.tsx'

const root = createRootRoute({
  component: Outlet,
  errorComponent: ErrorScreen,
  notFoundComponent: NotFoundScreen,
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyRouteComponent(() => import('../domains/access/welcome-page.tsx'), 'WelcomePage'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('../domains/access/sign-in-page.tsx'), 'SignInPage'),
})

/** Everything inside the shell: asks who is there before anything is loaded. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  beforeLoad: async ({ location }) => {
    const { needsFirstOwner, signedIn } = await authState()
    if (needsFirstOwner) throw redirect({ to: '/welcome' })
    if (!signedIn) throw redirect({ to: '/sign-in', search: { next: location.href } })
  },
  pendingComponent: AppPending,
  component: lazyRouteComponent(() => import('./app-shell.tsx'), 'AppShell'),
})

const home = createRoute({
  getParentRoute: () => app,
  path: '/',
  beforeLoad: () => {
    const slug = preferences().lastProject
    if (slug) throw redirect({ to: '/p/$slug/inbox', params: { slug }, replace: true })
  },
  component: lazyRouteComponent(() => import('../domains/projects/first-project.tsx'), 'FirstProject'),
})

const newProject = createRoute({
  getParentRoute: () => app,
  path: '/projects/new',
  component: lazyRouteComponent(() => import('../domains/projects/new-project-page.tsx'), 'NewProjectPage'),
})

const access = createRoute({
  getParentRoute: () => app,
  path: '/access',
  validateSearch: accessSearch,
  component: lazyRouteComponent(() => import('../domains/access/access-page.tsx'), 'AccessPage'),
})

const audit = createRoute({
  getParentRoute: () => app,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../domains/access/audit-page.tsx'), 'AuditPage'),
})

const health = createRoute({
  getParentRoute: () => app,
  path: '/health',
  validateSearch: healthSearch,
  component: lazyRouteComponent(() => import('../domains/health/health-page.tsx'), 'HealthPage'),
})

const project = createRoute({
  getParentRoute: () => app,
  path: '/p/$slug',
  component: lazyRouteComponent(() => import('./project-frame.tsx'), 'ProjectFrame'),
})

const projectHome = createRoute({
  getParentRoute: () => project,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/p/$slug/inbox', params, replace: true })
  },
})

const inbox = createRoute({
  getParentRoute: () => project,
  path: '/inbox',
  validateSearch: inboxSearch,
  component: lazyRouteComponent(() => import('../domains/delivery/inbox-page.tsx'), 'InboxPage'),
})

const sessions = createRoute({
  getParentRoute: () => project,
  path: '/sessions',
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => import('../domains/sessions/sessions-page.tsx'), 'SessionsPage'),
})

const session = createRoute({
  getParentRoute: () => project,
  path: '/sessions/$sessionId',
  validateSearch: sessionSearch,
  component: lazyRouteComponent(() => import('../domains/sessions/session-page.tsx'), 'SessionPage'),
})

const branches = createRoute({
  getParentRoute: () => project,
  path: '/sessions/$sessionId/branches',
  validateSearch: branchesSearch,
  component: lazyRouteComponent(() => import('../domains/sessions/forks/branches-page.tsx'), 'BranchesPage'),
})

const protocols = createRoute({
  getParentRoute: () => project,
  path: '/protocols',
  validateSearch: protocolsSearch,
  component: lazyRouteComponent(() => import('../domains/protocols/protocols-page.tsx'), 'ProtocolsPage'),
})

const protocol = createRoute({
  getParentRoute: () => project,
  path: '/protocols/$protocolId',
  validateSearch: protocolSearch,
  component: lazyRouteComponent(() => import('../domains/protocols/protocol-page.tsx'), 'ProtocolPage'),
})

const newProtocol = createRoute({
  getParentRoute: () => project,
  path: '/protocols/new/draft',
  validateSearch: newProtocolSearch,
  component: lazyRouteComponent(() => import('../domains/protocols/register-page.tsx'), 'RegisterPage'),
})

const routing = createRoute({
  getParentRoute: () => project,
  path: '/routing',
  validateSearch: routingSearch,
  component: lazyRouteComponent(() => import('../domains/routing/routing-page.tsx'), 'RoutingPage'),
})

const settings = createRoute({
  getParentRoute: () => project,
  path: '/settings',
  component: lazyRouteComponent(() => import('../domains/projects/settings-page.tsx'), 'SettingsPage'),
})

const projectAudit = createRoute({
  getParentRoute: () => project,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../domains/access/audit-page.tsx'), 'AuditPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    welcome,
    signIn,
    app.addChildren([
      home,
      newProject,
      access,
      audit,
      health,
      project.addChildren([
        projectHome,
        inbox,
        sessions,
        session,
        branches,
        protocols,
        protocol,
        newProtocol,
        routing,
        settings,
        projectAudit,
      ]),
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorScreen,
  defaultNotFoundComponent: NotFoundScreen,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
