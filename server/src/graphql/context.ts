import type { App } from '../app.ts'
import type { Viewer } from '../domains/access/rules.ts'
import { authorize, type Capability, type Scope } from '../domains/access/rules.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Loaders } from './loaders.ts'

/** What every resolver gets. One per request; for a watch, one per delivered event. */
export interface Context {
  app: App
  viewer: Viewer | null
  loaders: Loaders
  /** Found again in the log for what was masked. */
  requestId: string
  /** Set where events carry ids of the transport: the id to go on after, and the cursor of the latest item. */
  eventIds?: { after: string | null; latest: string | null }
}

/** The caller; refuses who did not sign in and brought no valid token. */
export function viewerOf(context: Context): Viewer {
  if (!context.viewer)
    throw new Refusal('UNAUTHENTICATED', 'Sign in, or send a valid token as `Authorization: Bearer …`.')
  return context.viewer
}

/** Lets through who holds the capability there; refuses the others without leaking what exists. */
export function permit(context: Context, capability: Capability, scope: Scope, sight?: Capability): Viewer {
  const viewer = viewerOf(context)
  const refusal = authorize(viewer, capability, scope, sight)
  if (refusal) throw refusal
  return viewer
}
