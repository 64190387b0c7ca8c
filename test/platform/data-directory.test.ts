import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from '@wheelhouse/server/platform/data-directory'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bundleFixture, type Running, startNode } from '../kit/processes.ts'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

let parent: string
let path: string
let fixture: string
const started: Running[] = []

beforeAll(() => {
  fixture = bundleFixture('platform/fixtures/hold-directory.ts')
})
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'wheelhouse-directory-'))
  path = join(parent, 'data')
})
afterEach(async () => {
  for (const process of started.splice(0)) {
    process.child.kill('SIGKILL')
    await process.ended
  }
  rmSync(parent, { recursive: true, force: true })
})

/** A process that is ready to open the directory at the word `go`. */
async function contender(): Promise<Running> {
  const process = startNode([fixture, path])
  started.push(process)
  await process.printed(/waiting/)
  return process
}

async function holder(): Promise<Running> {
  const process = await contender()
  process.write('go')
  await process.printed(/acquired|refused: .*/)
  return process
}

describe('the data directory', () => {
  test('and its files are open to their owner alone', async () => {
    const directory = await openDataDirectory(path)
    directory.announce('http://127.0.0.1:4600')
    expect(mode(path)).toBe('700')
    expect(readdirSync(path).map((name) => mode(join(path, name)))).toEqual(['600', '600', '600'])
    directory.release()
  })

  test('tells where its server is while that is ready, without a credential', async () => {
    const directory = await openDataDirectory(path)
    expect(readdirSync(path)).not.toContain('server.json')
    directory.announce('http://127.0.0.1:4600')
    expect(JSON.parse(readFileSync(join(path, 'server.json'), 'utf8'))).toEqual({
      pid: process.pid,
      url: 'http://127.0.0.1:4600',
      started: expect.any(String),
    })
    directory.release()
    expect(readdirSync(path)).toEqual(['wheelhouse.txt'])
  })

  test('has one server: a second is told who holds it', async () => {
    const first = await holder()
    const second = await holder()
    expect(second.output()).toContain(
      `is held by the server with pid ${first.pid} at http://127.0.0.1:1, since 20`,
    )
    expect((await second.ended).code).toBe(1)
    expect(readdirSync(path).filter((name) => name.startsWith('lock.'))).toHaveLength(1)
  })

  test('is free again after its server left', async () => {
    const first = await holder()
    first.child.stdin?.end()
    expect((await first.ended).code).toBe(0)
    expect((await holder()).output()).toContain('acquired')
  })

  test('has one server however many come at once, each time after its server was killed', async () => {
    for (let round = 0; round < 5; round += 1) {
      const contenders = await Promise.all(Array.from({ length: 6 }, contender))
      for (const process of contenders) process.write('go')
      await Promise.all(contenders.map((process) => process.printed(/acquired|refused/)))
      const holders = contenders.filter((process) => process.output().includes('acquired'))
      expect(holders).toHaveLength(1)
      for (const process of contenders) process.child.kill('SIGKILL')
      await Promise.all(contenders.map((process) => process.ended))
    }
  })

  test('is not kept by a pid that was given to somebody else', async () => {
    const first = await openDataDirectory(path)
    const [name = ''] = readdirSync(path).filter((entry) => entry.startsWith('lock.'))
    const claim = JSON.parse(readFileSync(join(path, name), 'utf8'))
    first.release()
    writeFileSync(
      join(path, 'lock.1-earlier'),
      JSON.stringify({ ...claim, state: 'held', startMark: 'earlier' }),
    )
    const second = await openDataDirectory(path)
    expect(readdirSync(path)).not.toContain('lock.1-earlier')
    second.release()
  })

  test('is not kept by a lock that a power cut tore', async () => {
    const first = await openDataDirectory(path)
    first.release()
    writeFileSync(join(path, 'lock.1-torn'), '{"pid": 1')
    const second = await openDataDirectory(path)
    second.release()
    expect(readdirSync(path)).toEqual(['wheelhouse.txt'])
  })

  test('is never a directory that holds something else', async () => {
    mkdirSync(path)
    writeFileSync(join(path, 'letter.txt'), 'dear all')
    chmodSync(path, 0o755)
    await expect(openDataDirectory(path)).rejects.toThrow(/holds something else/)
    expect(mode(path)).toBe('755')
    expect(readdirSync(path)).toEqual(['letter.txt'])
  })

  test('is never a file', async () => {
    writeFileSync(path, 'dear all')
    await expect(openDataDirectory(path)).rejects.toThrow(/is not a directory/)
    expect(readFileSync(path, 'utf8')).toBe('dear all')
  })
})

test.runIf(process.platform === 'linux')(
  'a place where nothing can be made is refused at once, not tried for ever',
  async () => {
    await expect(openDataDirectory('/proc/wheelhouse/data')).rejects.toThrow(
      /can't be used as the data directory/,
    )
  },
)
