import * as store from './store.ts'

export type { RunPage } from './store.ts'

/** Pages of the runs of any number of sessions, newest first; one more each than asked for. */
export const loadRunPages = store.runPages
