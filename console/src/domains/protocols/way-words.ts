import { useCallback } from 'react'
import type { Translate } from '../../kit/i18n.ts'
import type { TransitionRow } from './queries.ts'
import type { en } from './text.en.ts'
import { protocolsText } from './text.ts'

type T = Translate<typeof en>

/** Facts that must hold, each in words. `ok.<action>` counts the successes of one action. */
function conditionWords(t: T, facts: unknown): string[] {
  return Object.entries((facts ?? {}) as Record<string, boolean | number>).map(([fact, wanted]) => {
    if (fact.startsWith('ok.') && typeof wanted === 'number') {
      const action = fact.slice(3)
      return wanted === 1 ? t('way.once', { action }) : t('way.times', { action, count: wanted })
    }
    if (typeof wanted === 'number') return t('way.reached', { fact, count: wanted })
    return t(wanted ? 'way.is' : 'way.isNot', { fact })
  })
}

function triggerWords(t: T, { action, ok }: NonNullable<TransitionRow['on']>): string {
  if (action === '*') return t(ok ? 'way.anySucceeds' : 'way.anyFails')
  return t(ok ? 'way.succeeds' : 'way.fails', { action })
}

type Way = Pick<TransitionRow, 'on' | 'when'>

/** When a transition is taken, in words: the result that takes it, then each fact, a line for each. */
function wayLines(t: T, { on, when }: Way): string[] {
  const conditions = conditionWords(t, when)
  if (on) return [triggerWords(t, on), ...conditions.map((words) => t('way.and', { words }))]
  const [first, ...rest] = conditions
  if (first === undefined) return [t('way.always')]
  return [t('way.when', { words: first }), ...rest.map((words) => t('way.and', { words }))]
}

export function useWayWords() {
  const t = protocolsText.useText()
  return {
    lines: useCallback((way: Way) => wayLines(t, way), [t]),
    way: useCallback((way: Way) => wayLines(t, way).join(' '), [t]),
    conditions: useCallback((facts: unknown) => conditionWords(t, facts), [t]),
  }
}
