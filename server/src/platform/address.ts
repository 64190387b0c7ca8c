import { createServer } from 'node:net'

/**
 * Whether this process could listen there, asked before anything else is begun: what is wrong with port or host is told
 * before a database is made or migrated. Fails as listening would.
 */
export async function checkAddress(port: number, host: string): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()))
  })
}
