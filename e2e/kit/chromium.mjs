// Finds a Chromium that starts, or gets one: Debian's as root, else Playwright's.
import { spawnSync } from 'node:child_process'
import { chromium } from '@playwright/test'

const known = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
/** With it, Chinese in screenshots has glyphs. */
const chineseFont = 'fonts-noto-cjk'

const isRoot = process.getuid?.() === 0
/** Ubuntu's `chromium-browser` may be a script that only tells people to install a snap. */
const starts = (path) => spawnSync(path, ['--version', '--no-sandbox'], { timeout: 20_000 }).status === 0
const installed = () => [...known, chromium.executablePath()].find(starts)

function quietly(command, args, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error ?? ''}`.trim() }
}
const apt = (...args) =>
  quietly('apt-get', ['-y', '-q', ...args], { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' })
const hasApt = () => process.platform === 'linux' && quietly('apt-get', ['--version']).ok
const hasChineseFont = () => quietly('fc-list', [':lang=zh', 'family']).output !== ''

/** @returns the path of a Chromium, or null and what a person can do about it */
export function findChromium() {
  const found = installed()
  if (found) return { path: found }
  const complaints = []
  if (isRoot && hasApt()) {
    console.log('No Chromium here: installing Debian’s')
    apt('update')
    const { output } = apt('install', '--no-install-recommends', 'chromium')
    const path = installed()
    if (path) return { path }
    complaints.push(`apt-get: ${output.split('\n').at(-1)}`)
  }
  console.log('No Chromium here: installing Playwright’s')
  const { output } = quietly('npx', ['playwright', 'install', 'chromium'])
  const path = installed()
  if (path) return { path }
  complaints.push(
    `playwright: ${output.split('\n').find((line) => /error/i.test(line)) ?? output.split('\n').at(-1)}`,
  )
  return {
    path: null,
    advice: [
      'The browser tests need Chromium, and none could be installed:',
      ...complaints.map((line) => `  ${line}`),
      'Install it yourself and run them again, for example:',
      '  Debian, Ubuntu   sudo apt-get install chromium',
      '  Fedora           sudo dnf install chromium',
      '  macOS            brew install --cask chromium',
      '  else             npx playwright install --with-deps chromium',
    ].join('\n'),
  }
}

/** Never required: without it Chinese is tested all the same, but drawn as boxes. */
export function installChineseFont() {
  if (!isRoot || !hasApt() || hasChineseFont()) return
  if (!apt('install', '--no-install-recommends', chineseFont, 'fontconfig').ok) {
    apt('update')
    apt('install', '--no-install-recommends', chineseFont, 'fontconfig')
  }
}
