import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { eventually } from './eventually.ts'

/** What stands before a database, on a TCP port of its own: it answers as one that still starts, until it is opened. */
export interface Front {
  url: string
  /** From now on, connections go to the database. */
  open(): void
  /** How many were turned away. */
  readonly refused: number
  close(): Promise<void>
}

/** PostgreSQL's own message to who comes while it recovers. */
function startingUp(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up']
  const body = Buffer.from(`${fields.join('\0')}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** `url` is that of a database of the test cluster, which listens on a local socket. */
export async function startFront(url: string): Promise<Front> {
  const behind = new URL(url)
  const directory = behind.searchParams.get('host') ?? ''
  const sockets = new Set<Socket>()
  let opened = false
  let refused = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    if (!opened) {
      socket.once('data', () => {
        refused += 1
        socket.end(startingUp())
      })
      return
    }
    const database = connect(join(directory, '.s.PGSQL.5432'))
    sockets.add(database)
    database.on('error', () => socket.destroy()).on('close', () => sockets.delete(database))
    socket.pipe(database).pipe(socket)
  }).listen(0, '127.0.0.1')
  await eventually(() => server.listening)
  const address = server.address()
  const port = address && typeof address === 'object' ? address.port : 0
  return {
    url: `postgres://${behind.username}@127.0.0.1:${port}${behind.pathname}`,
    open: () => {
      opened = true
    },
    get refused() {
      return refused
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
