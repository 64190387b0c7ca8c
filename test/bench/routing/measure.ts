// Bundled and started by run.mjs: routes each example by rules, and by the model where one is configured, and prints
// the outcomes as JSON, one line each.
import { readFileSync } from 'node:fs'
import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import type { Classifier } from '@wheelhouse/server/domains/routing/operations'
import { type RouteInput, route, settle } from '@wheelhouse/server/domains/routing/rules'
import { readConfig } from '@wheelhouse/server/platform/config'
import { Refusal } from '@wheelhouse/server/platform/refusal'

interface Example {
  id: string
  lang: string
  context: { intent: string | null; protocol: string | null; recent: { role: string; text: string }[] }
  message: string
  label: { relation: string; protocol: string }
  weak: boolean
  debatable: boolean
}

const { model } = readConfig(process.env)
let classifier: Classifier | null = null
if (model) {
  const { createClassifier } = await import('@wheelhouse/server/domains/routing/classifier')
  classifier = createClassifier(model)
}
const lines = readFileSync(process.argv[2] ?? '', 'utf8').split('\n')
for (const line of lines.filter((each) => each.trim() !== '')) {
  const { context, message, ...example } = JSON.parse(line) as Example
  const said = (role: string) => context.recent.filter((each) => each.role === role).map(({ text }) => text)
  const input: RouteInput = {
    message,
    head: context.intent && context.protocol ? { protocol: context.protocol } : null,
    lastUserMessage: said('user').at(-1) ?? null,
    lastAssistantMessage: said('assistant').at(-1) ?? null,
    protocols: builtIn,
    allowed: null,
  }
  const outcome = route(input)
  if (outcome instanceof Refusal) throw outcome
  const byRule = 'routed' in outcome ? outcome.routed : null
  let milliseconds: number | null = null
  let byModel = null
  if ('undecided' in outcome && classifier) {
    const head =
      context.intent && context.protocol ? { rendering: context.intent, protocol: context.protocol } : null
    const classified = await classifier({
      message,
      protocols: outcome.undecided.protocols,
      head,
      summary: null,
      recent: said('user').slice(-2),
    })
    milliseconds = classified.milliseconds
    byModel = settle(input, outcome.undecided, classified.answer)
  }
  const short = (routed: typeof byRule) =>
    routed && {
      relation: routed.relation,
      protocol: routed.protocol,
      reason: routed.reasons[0],
      warnings: routed.warnings,
    }
  process.stdout.write(
    `${JSON.stringify({ ...example, byRule: short(byRule), byModel: short(byModel), milliseconds })}\n`,
  )
}
