import { defineConfig } from 'vitest/config'

/** One cluster for the run, a database a test; two files at a time, as the smallest machine has two cores. */
export default defineConfig({
  // The libraries take graphql as Node finds it; the source must get the same copy.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['{rules,operations,api,scale,platform,console}/**/*.test.ts'],
    globalSetup: ['kit/cluster.setup.ts'],
    // The long forms try hundreds of times what the short ones try a few times.
    testTimeout: process.env.TEST_LONG ? 1_200_000 : 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
  },
})
