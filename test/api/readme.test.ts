import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@wheelhouse/server/platform/config'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'
import { eventually } from '../kit/eventually.ts'
import { root } from '../kit/processes.ts'
import { given } from '../kit/story.ts'
import { range } from '../kit/watching.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** The rows of the first table below a heading, cell by cell. */
function tableUnder(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const code = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

// A minimal machine has no curl; whoever follows the README there has installed it.
const hasCurl = spawnSync('curl', ['--version']).status === 0

describe.skipIf(!hasCurl)('first query and first subscription', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(() => app.close())

  /** Runs a command of the README as it stands, but against this server. */
  function run(name: string, env: Record<string, string>) {
    const command = new RegExp(`<!-- curl: ${name} -->\n\`\`\`sh\n(.*?)\n\`\`\``, 's').exec(readme)?.[1]
    if (!command?.includes('http://127.0.0.1:4600')) throw new Error(`no command ${name}`)
    const child = spawn('bash', ['-euc', `exec ${command.replace('http://127.0.0.1:4600', app.url)}`], {
      env: { PATH: process.env.PATH, WHEELHOUSE_TOKEN: app.owner.token, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    return {
      output: () => output,
      async result<T>(): Promise<T> {
        await ended
        return (JSON.parse(output) as { data: T }).data
      },
      async stop() {
        child.kill()
        await ended
      },
    }
  }

  test('the commands of the README, one after the other, do what it says', async () => {
    const story = await given(app).project()
    await story.runtime()
    const { projects } = await run('projects', {}).result<{ projects: { nodes: { id: string }[] } }>()
    expect(projects.nodes.map(({ id }) => id)).toEqual([story.projectId])
    const { createSession } = await run('session', { PROJECT: story.projectId }).result<{
      createSession: { session: { id: string } }
    }>()
    const SESSION = createSession.session.id
    const watch = run('watch', { SESSION })
    await eventually(() => watch.output().includes('SESSION_CREATED'))
    const { submitTurn } = await run('turn', { SESSION }).result<{
      submitTurn: { run: { state: string }; cursor: number }
    }>()
    expect(submitTurn.run.state).toBe('OFFERED')
    await eventually(() => watch.output().includes('RUN_OFFERED'))
    await watch.stop()
    const ids = [...watch.output().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(ids.length).toBeGreaterThan(3)
    expect(ids).toEqual(range(1, submitTurn.cursor))
  })
})

test('the README’s settings are those that the server reads, with their defaults', () => {
  const source = readFileSync(join(root, 'server/src/platform/config.ts'), 'utf8')
  const table = source.slice(
    source.indexOf('const settings = {'),
    source.indexOf('\n}\n', source.indexOf('const settings = {')),
  )
  const names = [...table.matchAll(/^ {2}([A-Z_]+): z/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  const rows = tableUnder('Settings')
  expect(rows.map(([name]) => code(name)[0])).toEqual(names)
  for (const [cell, value] of rows) {
    const [name = ''] = code(cell)
    const [given] = code(value)
    if (given !== undefined) expect(readConfig({ [name]: given }, '/'), name).toEqual(readConfig({}, '/'))
    // A file is read only for the settings that are marked.
    const complaint = () => readConfig({ [`${name}_FILE`]: '/nowhere' }, '/')
    expect(complaint, name).toThrow(cell?.includes('*') ? "can't be read" : 'is not a setting')
  }
})

test('the README’s map names what is there, and its commands are those of the package', () => {
  const folders = tableUnder('Map of the code').flatMap(([cell]) => code(cell))
  expect(folders.length).toBeGreaterThan(10)
  for (const folder of folders)
    expect(existsSync(join(root, folder.replace('<domain>', 'projects'))), folder).toBe(true)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = tableUnder('Development').map(([cell]) => code(cell)[0]?.split(' ').at(-1))
  expect([...commands, 'start'].sort()).toEqual(Object.keys(scripts).sort())
  for (const [, target = ''] of readme.matchAll(/\]\(([^)]+)\)/g))
    if (!/^https?:|\.png$/.test(target)) expect(existsSync(join(root, target)), target).toBe(true)
})
