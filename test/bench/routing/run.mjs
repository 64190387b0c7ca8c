// pnpm bench:routing [<file.jsonl>]: how much of a labelled set rules decide, and how often they are right; with a model
// (WHEELHOUSE_MODEL_URL, _NAME, _KEY) what the two of them come to. The form of a line is in README.md beside this.
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../../server/build.mjs'
import { generate } from '../../../server/generate.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const file = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? join(here, 'examples.jsonl'))
await generate()
const out = join(here, '../../../server/dist/test/bench-routing.js')
await bundle(join(here, 'measure.ts'), out)
const { status, stdout } = spawnSync(process.execPath, [out, file], {
  encoding: 'utf8',
  maxBuffer: 1e9,
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (status !== 0) process.exit(status ?? 1)
const rows = stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const right = (row, outcome) =>
  outcome.relation === row.label.relation && outcome.protocol === row.label.protocol
const percent = (part, whole) => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`)

function table(title, some) {
  const groups = [
    ['all', some],
    ...[...new Set(some.map((row) => row.label.relation))]
      .sort()
      .map((relation) => [relation, some.filter((row) => row.label.relation === relation)]),
    ...[...new Set(some.map((row) => row.lang))]
      .sort()
      .map((lang) => [lang, some.filter((row) => row.lang === lang)]),
  ]
  console.log(`\n${title}: ${some.length}\n`)
  console.log(
    '| rows | count | decided by rules | of those right | rules and model right | median ms of the model |',
  )
  console.log(
    '| ---- | ----: | ---------------: | -------------: | --------------------: | ---------------------: |',
  )
  for (const [name, group] of groups) {
    const decided = group.filter((row) => row.byRule)
    const correct = decided.filter((row) => right(row, row.byRule)).length
    const asked = group.filter((row) => row.byModel)
    const both = group.filter(
      (row) => (row.byRule ?? row.byModel) && right(row, row.byRule ?? row.byModel),
    ).length
    const times = asked.map((row) => row.milliseconds).sort((a, b) => a - b)
    console.log(
      `| ${name} | ${group.length} | ${percent(decided.length, group.length)} | ${percent(correct, decided.length)} | ${
        asked.length === 0 ? '–' : percent(both, group.length)
      } | ${times.length === 0 ? '–' : Math.round(times[Math.floor(times.length / 2)])} |`,
    )
  }
}

table('All rows', rows)
table(
  'Undebatable rows',
  rows.filter((row) => !row.debatable),
)
const wrongly = rows.filter((row) => !row.weak && row.byRule?.reason === 'SESSION_INTENT_INHERITED')
console.log(`\nInherited though the message says more than "go on": ${wrongly.length}`)
for (const row of wrongly) console.log(`  ${row.id}`)
const wrong = rows.filter((row) => row.byRule && !right(row, row.byRule))
console.log(`Decided wrongly by rules: ${wrong.length}`)
for (const row of wrong)
  console.log(
    `  ${row.id}: ${row.byRule.relation} ${row.byRule.protocol}, labelled ${row.label.relation} ${row.label.protocol}`,
  )
