import { defineConfig } from '@playwright/test'
import type { WorkerOptions } from './kit/test.ts'

const executablePath = process.env.CHROMIUM_PATH
/** As root Chromium has no sandbox of its own. It asks nobody on the network but the server under test. */
const browserArguments = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
]

/** Each worker has a server of its own, each test a project of its own, so that tests can't meet. */
export default defineConfig<object, WorkerOptions>({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: 'results/artifacts',
  reporter: [['list'], ['json', { outputFile: 'results/results.json' }]],
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  timeout: 45_000,
  expect: { timeout: 10_000 },
  use: {
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    actionTimeout: 10_000,
    screenshot: 'only-on-failure',
    permissions: ['clipboard-read', 'clipboard-write'],
    launchOptions: { args: browserArguments, ...(executablePath && { executablePath }) },
  },
})
