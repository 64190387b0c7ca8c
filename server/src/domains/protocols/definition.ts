import { z } from 'zod'
import { Refusal } from '../../platform/refusal.ts'
import { builtIn } from './built-in.ts'
import { type Protocol, succeeded, ungoverned } from './rules.ts'
import { flawCodes, flawsOf } from './validation/rules.ts'

/** What a definition may hold; counts are of list items, lengths of UTF-16 units. */
const bounds = {
  phases: 50,
  actions: 200,
  transitions: 50,
  facts: 20,
  startRules: 20,
  phrases: 1_000,
  handoffTo: 50,
  name: 64,
  title: 120,
  action: 120,
  version: 1_000_000,
}
const mostIssues = 20

const protocolIdPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/
const protocolId = z
  .string()
  .max(bounds.name)
  .regex(protocolIdPattern, 'must be lower-case words joined by -')
const phaseName = z
  .string()
  .max(bounds.name)
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a letter, then letters, digits, _ or -')
const actionPattern = z
  .string()
  .max(bounds.action)
  .regex(/^(?=\S)[^*\n]*\*?(?<=\S)$/, 'must be the name of an action, or the start of one and *')
/** A name that a result can bring (as the guard reads it), or the server's count of the successes of one action. */
const factName = z
  .string()
  .max(128)
  .regex(
    /^(?:(?!ok\.)[A-Za-z][A-Za-z0-9_.-]{0,63}|ok\.(?!ungoverned$)(?=\S)[^*\n]*(?<=\S))$/,
    'must be a letter, then letters, digits, _ . or -, at most 64, or `ok.` and the name of one action',
  )
const facts = z
  .record(factName, z.union([z.boolean(), z.int().min(1).max(1_000_000)]))
  .superRefine((value, { addIssue }) => {
    for (const [name, wanted] of Object.entries(value)) {
      if (name.startsWith(succeeded('')) && typeof wanted !== 'number')
        addIssue({ code: 'custom', path: [name], message: 'is a count: say a number' })
    }
  })
  .refine((value) => Object.keys(value).length <= bounds.facts, `must be at most ${bounds.facts} facts`)
/** As messages are read when it is looked for in them; written in another form it would be in none. */
const phrase = z
  .string()
  .normalize('NFKC')
  .trim()
  .max(80)
  .regex(/[\p{L}\p{N}]/u, 'must hold a letter or a digit')
  .regex(/^[^*]*\*?$/, 'must hold * at its end only')

const transition = z.strictObject({
  to: phaseName.describe('The phase that it leads to.'),
  on: z
    .strictObject({
      action: actionPattern
        .refine((pattern) => pattern !== ungoverned, 'names no result: say an action, or `prefix*`')
        .describe('An action or `prefix*`.'),
      ok: z.boolean().optional().describe('Which result: true, a success, when absent.'),
    })
    .optional()
    .describe('The result of an action that takes it.'),
  when: facts
    .optional()
    .describe(
      'Facts that must hold: a boolean equals, a count is reached. `ok.<action>` counts successes in the phase.',
    ),
})
const phase = z.strictObject({
  name: phaseName,
  allowedActions: z
    .array(actionPattern)
    .max(bounds.actions)
    .default([])
    .describe('Actions, `prefix*`, or `ungoverned`: every action that no protocol of the project governs.'),
  needsApproval: z
    .array(actionPattern)
    .max(bounds.actions)
    .default([])
    .describe('Of those, the ones that an owner must allow each time.'),
  transitions: z.array(transition).max(bounds.transitions).default([]),
  final: z.boolean().optional().describe('Whether the work may end here.'),
})
const startRule = z.strictObject({
  id: z
    .string()
    .max(bounds.name)
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be capital letters, digits and _'),
  anyOf: z
    .array(
      z.strictObject({
        all: z
          .array(z.array(phrase).min(1).max(bounds.phrases))
          .min(1)
          .max(10)
          .describe(
            'Lists of phrases, each of which must have one in the message; `word*` takes every ending.',
          ),
      }),
    )
    .min(1)
    .max(10)
    .describe('The alternatives.'),
  noneOf: z
    .array(phrase)
    .max(bounds.phrases)
    .optional()
    .describe('Phrases that speak against it: with one of them in the message the rule does not apply.'),
})
const definition = z.strictObject({
  id: protocolId,
  version: z.int().min(1).max(bounds.version).describe('1 at first; one more for every change.'),
  title: z.string().trim().min(1).max(bounds.title),
  initialPhase: phaseName,
  phases: z.array(phase).min(1).max(bounds.phases),
  governs: z
    .array(
      actionPattern.refine((pattern) => pattern !== '*' && pattern !== ungoverned, 'would govern everything'),
    )
    .max(bounds.actions)
    .default([])
    .describe('The actions that are its real work.'),
  completion: z
    .strictObject({
      requiredFacts: facts.default({}),
      requirements: z.enum(['ALL_MET', 'NONE']).default('NONE'),
      strict: z.boolean().default(false).describe('Whether a run can’t be completed before.'),
    })
    .prefault({})
    .describe('When the work is done.'),
  extraction: z.boolean().default(false).describe('Whether its tasks have their requirements extracted.'),
  handoffTo: z
    .array(protocolId)
    .max(bounds.handoffTo)
    .nullable()
    .default(null)
    .describe('The protocols that an agent may hand off to; null: any.'),
  staleIntent: z
    .enum(['ALLOW', 'BLOCK'])
    .default('ALLOW')
    .describe('Whether an action may be taken under a task that has been corrected since.'),
  startRules: z
    .array(startRule)
    .max(bounds.startRules)
    .default([])
    .describe('What makes a message the start of a task under it.')
    .refine(
      (rules) =>
        rules.flatMap(({ anyOf, noneOf }) => [...anyOf.flatMap(({ all }) => all.flat()), ...(noneOf ?? [])])
          .length <= bounds.phrases,
      `must be at most ${bounds.phrases} phrases in all`,
    ),
})

/** The JSON Schema (2020-12) of a definition as it is written. What the graph of phases must be, it can't say. */
export const definitionSchema = z.toJSONSchema(definition, { io: 'input' })

type Written = z.infer<typeof definition>

/** The definition with its defaults filled in, and nothing in it that is not there. */
const protocolFrom = ({ phases, startRules, ...rest }: Written): Protocol => ({
  ...rest,
  startRules: startRules.map(({ id, anyOf, noneOf }) => ({ id, anyOf, ...(noneOf && { noneOf }) })),
  phases: phases.map(({ transitions, final, ...each }) => ({
    ...each,
    transitions: transitions.map(({ to, on, when }) => ({
      to,
      ...(on && { on: { action: on.action, ...(on.ok !== undefined && { ok: on.ok }) } }),
      ...(when && { when }),
    })),
    ...(final !== undefined && { final }),
  })),
})

/**
 * A protocol from its definition, defaults filled in. INVALID_INPUT names up to 20 places under `definition`: first of
 * its shape, and when that is right, each flaw of the graph as `CODE: words` (the codes are `flawCodes`).
 */
export function parseProtocol(value: unknown): Protocol | Refusal {
  const result = definition.safeParse(value)
  if (!result.success) {
    // Of a key, what is wrong with it is said inside.
    const said = (issue: z.core.$ZodIssue) => (issue.code === 'invalid_key' && issue.issues[0]) || issue
    return flawed(
      result.error.issues.map((issue) => ({ path: issue.path.map(String), message: said(issue).message })),
    )
  }
  return sound(protocolFrom(result.data), builtIn)
}

/** A protocol without flaws among `others`, which govern what is not `ungoverned`; else as `parseProtocol` refuses it. */
export function sound(protocol: Protocol, others: readonly Protocol[]): Protocol | Refusal {
  const flaws = flawsOf(protocol, others)
  return flaws.length === 0
    ? protocol
    : flawed(flaws.map(({ code, path }) => ({ path, message: `${code}: ${flawCodes[code]}` })))
}

const flawed = (issues: { path: string[]; message: string }[]) =>
  new Refusal('INVALID_INPUT', 'The definition is not valid.', {
    issues: issues
      .slice(0, mostIssues)
      .map(({ path, message }) => ({ path: ['definition', ...path], message })),
  })
