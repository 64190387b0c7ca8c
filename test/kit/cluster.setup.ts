import { startTestCluster } from './database.ts'

/** Vitest's global set-up: one cluster for the whole run. */
export default async function setup(): Promise<() => Promise<void>> {
  const cluster = await startTestCluster()
  return cluster.stop
}
