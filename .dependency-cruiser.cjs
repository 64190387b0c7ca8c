/** The boundaries of page "Map of the code" in the README, as errors. */
const domain = '^server/src/domains/'
module.exports = {
  forbidden: [
    {
      name: 'rules-are-pure',
      comment: 'Rules import only types, other rules and the pure parts of the platform.',
      severity: 'error',
      from: { path: '/rules[.]ts$' },
      to: {
        pathNot: [
          '/rules[.]ts$',
          '^server/src/platform/(refusal|ids|strict-json|text)\\.ts$',
          '/words[.]ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'graphql-never-reads-the-database',
      comment: 'A resolver calls an operation; it never has a query of its own.',
      severity: 'error',
      from: { path: `${domain}.*/(graphql|commands|subscription|details)\\.ts$` },
      to: {
        path: ['/store\\.ts$', '^server/src/platform/database\\.ts$', '^server/src/generated/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'stores-know-no-verbs',
      comment: 'A store holds queries; it never calls an operation.',
      severity: 'error',
      from: { path: `${domain}.*/store\\.ts$` },
      to: { path: '/operations\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domains-meet-through-operations',
      comment: 'No domain reads the tables of another.',
      severity: 'error',
      from: { path: '^server/src/domains/([^/]+)/' },
      to: { path: '/store[.]ts$', pathNot: '^server/src/domains/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'platform-knows-no-domain',
      severity: 'error',
      from: { path: '^server/src/platform/' },
      to: { path: ['^server/src/(domains|graphql|transports)/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'console-and-server-meet-at-the-schema',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^server/src/' },
    },
    {
      name: 'the-agent-in-the-box-uses-the-public-api',
      comment:
        'What integrators read and copy must work on another machine; only its start belongs to the server.',
      severity: 'error',
      from: { path: '^server/src/(examples/|runtimes/sample)' },
      to: { path: '^server/src/', pathNot: '^server/src/(examples/|runtimes/sample)' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.ts$', '\\.config\\.(ts|cjs|mjs)$', '^(test|e2e)/', '/main\\.tsx?$'],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|generated|node_modules)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  },
}
