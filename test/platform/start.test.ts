import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runningProcesses, signal } from '@wheelhouse/server/platform/postgres/processes'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { startFront } from '../kit/front.ts'
import { bundleFixture, type Running, startNode } from '../kit/processes.ts'

let server: string
let parent: string
let data: string
const started: Running[] = []

beforeAll(() => {
  server = bundleFixture('../server/src/main.ts')
})
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'wheelhouse-start-'))
  // As root, PostgreSQL runs as somebody who has to pass through here.
  chmodSync(parent, 0o755)
  data = join(parent, 'data')
})
afterEach(async () => {
  for (const process of started.splice(0)) {
    process.child.kill('SIGKILL')
    await process.ended
  }
  for (const { pid } of databases()) signal(pid, 'SIGKILL')
  await eventually(() => databases().length === 0)
  rmSync(parent, { recursive: true, force: true })
})

const databases = () => runningProcesses((command) => command.includes(` -D ${join(data, 'postgres/data')} `))

function start(env: Record<string, string> = {}): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(WHEELHOUSE_|DATABASE_URL)/.test(name))
  const running = startNode([server], {
    ...Object.fromEntries(inherited),
    WHEELHOUSE_DATA_DIR: data,
    WHEELHOUSE_PORT: '0',
    WHEELHOUSE_SAMPLE: '0',
    ...env,
  })
  started.push(running)
  return running
}

async function ready(running: Running): Promise<string> {
  const [, url = ''] = await running.printed(/ready at (\S+)/)
  return url
}

async function failure(env: Record<string, string>): Promise<string> {
  const running = start(env)
  expect((await running.ended).code).toBe(1)
  return running.output()
}

describe('a start', () => {
  test('on an empty directory makes a database, serves, and leaves nothing behind at its end', async () => {
    const running = start()
    const url = await ready(running)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'))).toMatchObject({
      pid: running.pid,
      url,
    })
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(databases()).toHaveLength(1)
    running.child.kill('SIGTERM')
    expect(await running.ended).toEqual({ code: 0, signal: null })
    expect(databases()).toEqual([])
    expect(readdirSync(data).filter((name) => /^(lock|server)/.test(name))).toEqual([])
  })

  test('while another server has the directory is refused', async () => {
    const first = start()
    const url = await ready(first)
    expect(await failure({})).toMatch(
      new RegExp(`is held by the server with pid ${first.pid} at ${url}, since`),
    )
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('after kill -9 of the server takes over what it left', async () => {
    const first = start()
    await ready(first)
    first.child.kill('SIGKILL')
    await first.ended
    expect(databases()).toHaveLength(1)
    const second = start()
    const url = await ready(second)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(databases()).toHaveLength(1)
  })

  test('names every setting that is wrong, one line each, and touches nothing', async () => {
    const output = await failure({
      WHEELHOUSE_PORT: 'x',
      WHEELHOUSE_BOOTSTRAP_TOKEN: 'short',
      WHEELHOUSE_PROT: '1',
    })
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/^WHEELHOUSE_PROT is not a setting/),
      expect.stringMatching(/^WHEELHOUSE_PORT must be/),
      expect.stringMatching(/^WHEELHOUSE_BOOTSTRAP_TOKEN must have/),
    ])
    expect(readdirSync(parent)).toEqual([])
  })

  test('on a port that is taken says so in one line, before there is a database', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await eventually(() => other.listening)
    const { port } = other.address() as AddressInfo
    const output = await failure({ WHEELHOUSE_PORT: String(port), WHEELHOUSE_LOG: 'error' })
    other.close()
    expect(output.trim()).toBe(`127.0.0.1:${port} is in use: end what listens there, or set WHEELHOUSE_PORT`)
    expect(runningProcesses((command) => command.includes(data))).toEqual([])
    expect(readdirSync(data)).toEqual(['wheelhouse.txt'])
  })

  test('on an address of another machine says so in one line, before there is a database', async () => {
    const output = await failure({ WHEELHOUSE_HOST: '192.0.2.1' })
    expect(output.trim()).toBe('192.0.2.1 is not an address of this machine: set WHEELHOUSE_HOST to one')
    expect(readdirSync(data)).toEqual(['wheelhouse.txt'])
  })

  test('on a database that is not there yet says that it waits, and ends in order when it is told to', async () => {
    const running = start({ DATABASE_URL: 'postgres://nobody:canary@127.0.0.1:1/none' })
    await running.printed(/Waiting for the database, 60 s at most: .*ECONNREFUSED/)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect(running.output()).not.toContain('canary')
  })

  test('on a database that still recovers waits, and serves once it takes connections', async () => {
    const database = await freshDatabase()
    const front = await startFront(database.url)
    try {
      const running = start({ DATABASE_URL: front.url })
      await running.printed(/Waiting for the database, 60 s at most: the database system is starting up/)
      front.open()
      expect((await fetch(`${await ready(running)}/healthz`)).status).toBe(200)
      expect(running.output().match(/Waiting for the database/g)).toHaveLength(1)
      running.child.kill('SIGTERM')
      expect((await running.ended).code).toBe(0)
    } finally {
      await front.close()
      await database.drop()
    }
  })

  test('on a database that is not there, or lets nobody in, says so at once in one line', async () => {
    const database = await freshDatabase()
    const front = await startFront(database.url)
    front.open()
    try {
      const wrongName = front.url.replace(database.name, 'nowhere')
      const wrongUser = front.url.replace(/\/\/\w+@/, '//nobody:canary@')
      for (const url of [wrongName, wrongUser]) {
        const output = await failure({ DATABASE_URL: url })
        expect(output.trim()).toMatch(/^DATABASE_URL can't be used: .+$/)
        expect(output).not.toContain('canary')
      }
    } finally {
      await front.close()
      await database.drop()
    }
  })

  test('on a database whose host is unknown names that setting, not the host to listen on', async () => {
    const output = await failure({ DATABASE_URL: 'postgres://nobody:canary@nowhere.invalid:5432/none' })
    expect(output.trim()).toMatch(/^DATABASE_URL can't be used: .*nowhere\.invalid/)
    expect(output).not.toContain('canary')
  })

  test('on one database by two servers with directories of their own lets both serve', async () => {
    const database = await freshDatabase({ empty: true })
    try {
      const pair = [
        start({ DATABASE_URL: database.url }),
        start({ DATABASE_URL: database.url, WHEELHOUSE_DATA_DIR: join(parent, 'other') }),
      ]
      for (const url of await Promise.all(pair.map(ready)))
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
      for (const running of pair) running.child.kill('SIGTERM')
      for (const running of pair) expect((await running.ended).code).toBe(0)
    } finally {
      await database.drop()
    }
  })

  test('that is stopped before it is ready ends in order', async () => {
    const running = start()
    await running.printed(/database made/)
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(0)
    expect(databases()).toEqual([])
    expect(readdirSync(data).filter((name) => /^(lock|server)/.test(name))).toEqual([])
  })

  test('in somebody else’s directory is refused', async () => {
    mkdirSync(join(data, 'letters'), { recursive: true })
    expect(await failure({})).toMatch(/holds something else/)
    expect(readdirSync(data)).toEqual(['letters'])
  })
})
