import {
  type Change,
  changeOfTurn,
  correct,
  cut,
  decideRequirement,
  type Head,
  maxRequirements,
  maxText,
  type Relation,
  type RequirementNow,
  refine,
  relations,
  render,
  revertTo,
  switchProtocol,
} from '@wheelhouse/server/domains/intents/rules'
import { Refusal } from '@wheelhouse/server/platform/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const requirement = (id: string, text: string, state: RequirementNow['state'] = 'OPEN'): RequirementNow => ({
  id,
  text,
  messageId: null,
  state,
})
const head: Head = {
  id: 'r1',
  taskId: 't1',
  protocol: 'data-analysis@1',
  text: 'Sales by region, and why they fell',
  requirements: [requirement('q1', 'Only 2026'), requirement('q2', 'Name the cause', 'MET')],
}
const ids = { task: 't2', requirement: 'q3' }
const turn = (relation: Relation, text = 'Split it by quarter', protocol = head.protocol) => ({
  relation,
  protocol,
  text,
  messageId: 'm1',
})
const listed = head.requirements.map(({ state: _, ...each }) => each)
const done = (change: Change | null | Refusal): Change => {
  if (!change || change instanceof Refusal) throw change
  return change
}

describe('What a turn does to the task', () => {
  const outcomes: Record<Relation, { withTask: Partial<Change> | null; without: Partial<Change> | null }> = {
    CONTINUE: { withTask: null, without: null },
    REFINE: {
      withTask: {
        kind: 'REFINE',
        taskId: 't1',
        text: head.text,
        requirements: [...listed, { id: 'q3', text: 'Split it by quarter', messageId: 'm1' }],
      },
      without: { kind: 'INITIAL', taskId: 't2', text: 'Split it by quarter', requirements: [] },
    },
    REPLACE: {
      withTask: { kind: 'REPLACE', taskId: 't2', text: 'Split it by quarter', requirements: [] },
      without: { kind: 'INITIAL', taskId: 't2', text: 'Split it by quarter', requirements: [] },
    },
    SIDE_CHAT: { withTask: null, without: null },
  }
  test.each(relations.map((relation) => [relation] as const))('%s', (relation) => {
    const { withTask, without } = outcomes[relation]
    for (const [before, outcome] of [
      [head, withTask],
      [null, without],
    ] as const) {
      const change = changeOfTurn(before, turn(relation), ids)
      if (outcome === null) expect(change).toBeNull()
      else expect(change).toEqual({ protocol: head.protocol, ...outcome })
    }
  })

  test('going on under another protocol is a ROUTE_SWITCH of the same task', () => {
    expect(changeOfTurn(head, turn('CONTINUE', 'retry', 'general-task@1'), ids)).toEqual({
      kind: 'ROUTE_SWITCH',
      taskId: 't1',
      protocol: 'general-task@1',
      text: head.text,
      requirements: listed,
    })
  })

  test('a message beyond 2 000 characters is cut there, never inside a character, and linked', () => {
    const long = `${'x'.repeat(maxText - 2)}😀😀`
    expect(done(changeOfTurn(head, turn('REPLACE', long), ids)).text).toBe(`${'x'.repeat(maxText - 2)}…`)
    expect(done(changeOfTurn(head, turn('REFINE', long), ids)).requirements.at(-1)?.messageId).toBe('m1')
    expect(cut('😀'.repeat(3), 6)).toBe('😀'.repeat(3))
  })

  test('the 101st open requirement is INTENT_FULL; met and dropped ones count nothing', () => {
    const many = (open: number, others: number): Head => ({
      ...head,
      requirements: [
        ...Array.from({ length: open }, (_, n) => requirement(`o${n}`, `open ${n}`)),
        ...Array.from({ length: others }, (_, n) =>
          requirement(`d${n}`, `gone ${n}`, n % 2 ? 'MET' : 'DROPPED'),
        ),
      ],
    })
    expect(refine(many(maxRequirements - 1, 40), [requirement('x', 'x')])).not.toBeInstanceOf(Refusal)
    expect(refine(many(maxRequirements, 0), [requirement('x', 'x')])).toMatchObject({ code: 'INTENT_FULL' })
    expect(changeOfTurn(many(maxRequirements, 0), turn('REFINE'), ids)).toMatchObject({ code: 'INTENT_FULL' })
  })
})

describe('A correction', () => {
  const newId = () => 'new'
  const plain = { protocol: head.protocol, newTask: false }

  test('keeps the task, and what it does not name', () => {
    expect(correct(head, { ...plain, text: 'By region and quarter' }, newId)).toEqual({
      kind: 'CORRECTION',
      taskId: 't1',
      protocol: head.protocol,
      text: 'By region and quarter',
      requirements: listed,
    })
  })

  test('replaces the list; one whose text is unchanged keeps its id', () => {
    const change = done(correct(head, { ...plain, requirements: ['Name the cause', 'In a table'] }, newId))
    expect(change.requirements).toEqual([
      { id: 'q2', text: 'Name the cause', messageId: null },
      { id: 'new', text: 'In a table', messageId: null },
    ])
    expect(done(correct(head, { ...plain, requirements: [] }, newId)).requirements).toEqual([])
  })

  test('makes another task when it says so, with words of its own and nothing of the old list', () => {
    const change = done(
      correct(head, { ...plain, text: 'A README', newTask: true, requirements: ['Only 2026'] }, newId),
    )
    expect(change).toMatchObject({
      taskId: 'new',
      text: 'A README',
      requirements: [{ id: 'new', text: 'Only 2026', messageId: null }],
    })
    expect(correct(head, { ...plain, newTask: true }, newId)).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('of a session without a task is its first one, and needs words', () => {
    expect(correct(null, { ...plain, text: 'A README' }, newId)).toMatchObject({
      kind: 'CORRECTION',
      taskId: 'new',
    })
    expect(correct(null, { ...plain, requirements: ['x'] }, newId)).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('names no requirement twice', () => {
    expect(correct(head, { ...plain, requirements: ['a', 'a'] }, newId)).toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('back to an earlier revision says what that said, its task included', () => {
    expect(revertTo({ ...head, requirements: listed })).toEqual({
      kind: 'CORRECTION',
      taskId: 't1',
      protocol: head.protocol,
      text: head.text,
      requirements: listed,
    })
  })

  test('a handoff changes the protocol and nothing else', () => {
    expect(switchProtocol(head, 'general-task@1', 'HANDOFF')).toEqual({
      kind: 'HANDOFF',
      taskId: 't1',
      protocol: 'general-task@1',
      text: head.text,
      requirements: listed,
    })
  })
})

describe('A requirement', () => {
  const outcomes: Record<RequirementNow['state'], Record<'MET' | 'DROPPED', string>> = {
    OPEN: { MET: 'MET', DROPPED: 'DROPPED' },
    MET: { MET: 'CONFLICT', DROPPED: 'CONFLICT' },
    DROPPED: { MET: 'CONFLICT', DROPPED: 'CONFLICT' },
  }
  test.each(Object.entries(outcomes))('%s', (state, verbs) => {
    for (const [next, outcome] of Object.entries(verbs)) {
      const decided = decideRequirement(requirement('q', 'x', state as 'OPEN'), next as 'MET')
      expect(decided instanceof Refusal ? decided.code : decided).toBe(outcome)
    }
  })
  test('that the task does not list is CONFLICT', () => {
    expect(decideRequirement(undefined, 'MET')).toMatchObject({ code: 'CONFLICT' })
  })
})

describe('The task in words', () => {
  test('is its text and what it requires, met ones marked, dropped ones left out', () => {
    const requirements = [
      ...head.requirements,
      requirement('q3', 'Old', 'DROPPED'),
      requirement('q4', 'two\nlines'),
    ]
    expect(render({ text: head.text, requirements })).toBe(
      'Sales by region, and why they fell\n- Only 2026\n- [met] Name the cause\n- two lines',
    )
  })

  test('keeps to its budget and counts what it folds, whatever the task is', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: maxText }),
        fc.array(fc.string({ minLength: 1, maxLength: 300 }), { maxLength: 40 }),
        fc.integer({ min: 40, max: maxText }),
        (text, texts, budget) => {
          const requirements = texts.map((each, n) => requirement(`q${n}`, each))
          const words = render({ text, requirements }, budget)
          expect(words.length).toBeLessThanOrEqual(budget)
          const whole = render({ text, requirements }, Number.MAX_SAFE_INTEGER)
          if (whole.length <= budget) expect(words).toBe(whole)
          else if (texts.length > 0) {
            const folded = /\n… and (\d+) more$/.exec(words)
            // Either lines are folded and counted, or the text alone had to be cut and all lines fitted.
            const shown = texts.length - Number(folded?.[1] ?? 0)
            expect(folded !== null || words.includes('…')).toBe(true)
            expect(shown).toBeGreaterThanOrEqual(0)
          }
        },
      ),
    )
  })
})
