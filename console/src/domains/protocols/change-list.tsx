import type { Change, FieldName, Part } from './compare.ts'
import { protocolsText } from './text.ts'
import { useWayWords } from './way-words.ts'

/** The differences of two versions in words, what came and what went told by a sign and a word. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  const words = useChangeWords()
  return (
    <ul className="changes">
      {changes.map((change) => {
        const key = `${change.of} ${change.name}`
        const lines = words(change)
        return lines.map((line, index) => (
          <li key={`${key} ${line}`}>
            <i aria-hidden="true" data-sign={signOf(change)}>
              {index === 0 ? signOf(change) : ''}
            </i>
            <div>
              {line}
              {change.of === 'phase' && change.parts.length > 0 && <Parts parts={change.parts} />}
            </div>
          </li>
        ))
      })}
    </ul>
  )
}

const signOf = (change: Change): '+' | '-' | '~' =>
  change.of === 'phase' || change.of === 'startRule' ? change.sign : '~'

function useChangeWords() {
  const t = protocolsText.useText()
  const { conditions } = useWayWords()
  const value = (name: FieldName, text: string | null): string => {
    switch (name) {
      case 'handoffTo':
        if (text === null) return t('facts.handoffAny')
        return (JSON.parse(text) as string[]).join(', ') || t('compare.nothing')
      case 'requiredFacts':
        return conditions(JSON.parse(text ?? '{}')).join(', ') || t('compare.nothing')
      case 'staleIntent':
        return t(text === 'BLOCK' ? 'facts.staleBLOCK' : 'facts.staleALLOW')
      case 'requirements':
        return t(text === 'ALL_MET' ? 'facts.allMet' : 'compare.nothing')
      case 'extraction':
      case 'strict':
        return t(text === 'true' ? 'compare.yes' : 'compare.no')
      default:
        return text ?? t('compare.nothing')
    }
  }
  return (change: Change): string[] => {
    switch (change.of) {
      case 'phase': {
        const keys = {
          '+': 'compare.phaseAdded',
          '-': 'compare.phaseRemoved',
          '~': 'compare.phaseChanged',
        } as const
        return [t(keys[change.sign], { name: change.name })]
      }
      case 'startRule': {
        const keys = {
          '+': 'compare.ruleAdded',
          '-': 'compare.ruleRemoved',
          '~': 'compare.ruleChanged',
        } as const
        return [t(keys[change.sign], { name: change.name })]
      }
      case 'list': {
        const field = t(`compare.fields.${change.name}`)
        const { added, removed } = change
        return [
          ...(added.length > 0 ? [t('compare.added', { field, names: added.join(', ') })] : []),
          ...(removed.length > 0 ? [t('compare.removed', { field, names: removed.join(', ') })] : []),
        ]
      }
      case 'value': {
        const field = t(`compare.fields.${change.name}`)
        const { before, after } = change
        return [
          t('compare.changed', {
            field,
            before: value(change.name, before),
            after: value(change.name, after),
          }),
        ]
      }
      default:
        return change satisfies never
    }
  }
}

function Parts({ parts }: { parts: readonly Part[] }) {
  const words = usePartWords()
  return (
    <ul className="changes">
      {parts.map((part) => {
        const text = words(part)
        return (
          <li key={text}>
            <i aria-hidden="true" data-sign={part.part === 'order' ? '~' : part.sign}>
              {part.part === 'order' ? '~' : part.sign}
            </i>
            <div>{text}</div>
          </li>
        )
      })}
    </ul>
  )
}

function usePartWords() {
  const t = protocolsText.useText()
  const { way } = useWayWords()
  return (part: Part): string => {
    const isNew = part.sign === '+'
    switch (part.part) {
      case 'actions':
        return t(isNew ? 'compare.allows' : 'compare.allowsNoMore', { action: part.action })
      case 'approvals':
        return t(isNew ? 'compare.asks' : 'compare.asksNoMore', { action: part.action })
      case 'transitions':
        return t(isNew ? 'compare.leads' : 'compare.leadsNoMore', {
          to: part.transition.to,
          way: way(part.transition),
        })
      case 'order':
        return t('compare.order')
      case 'final':
        return t(isNew ? 'compare.isFinal' : 'compare.isNotFinal')
      default:
        return part satisfies never
    }
  }
}
