// The browser tests on a real server and a real Chromium; the outcome is in results/results.json.
//   node e2e/run.mjs [--screenshots] [what Playwright takes: a file, -g 'a name', --headed, …]
// With LOOKS=1 in the environment each route is also pictured in every theme, language and width, in results/looks.
// With --screenshots only the pictures of the README are taken, and put into console/docs.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../server/inputs.mjs'
import { prepare } from '../server/prepare.mjs'
import { findChromium, installChineseFont } from './kit/chromium.mjs'

const directory = join(root, 'e2e')
const results = join(directory, 'results')
const pictures = ['session-light.png', 'session-dark.png', 'inbox-light.png']
const given = process.argv.slice(2)
const takePictures = given.includes('--screenshots')
const args = given.filter((argument) => argument !== '--screenshots')

rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })
try {
  await prepare()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const { path, advice } = findChromium()
if (path === null) {
  console.error(advice)
  process.exit(1)
}
installChineseFont()
const playwright = createRequire(import.meta.url).resolve('@playwright/test/cli')
const { status } = spawnSync(
  process.execPath,
  [playwright, 'test', ...(takePictures ? ['screenshots.spec.ts'] : []), ...args],
  { cwd: directory, stdio: 'inherit', env: { ...process.env, CHROMIUM_PATH: path } },
)
if (takePictures && status === 0) {
  mkdirSync(join(root, 'console/docs'), { recursive: true })
  for (const name of pictures) copyFileSync(join(results, name), join(root, 'console/docs', name))
}
process.exit(status ?? 1)
