// No source file is longer than 400 lines; most stay under 200.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const limit = 400
const files = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs', '*.cjs'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file && existsSync(file))
const long = files.flatMap((file) => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').length
  return lines > limit ? [`${file}: ${lines} lines`] : []
})
for (const line of long) console.error(line)
process.exit(long.length > 0 ? 1 : 0)
