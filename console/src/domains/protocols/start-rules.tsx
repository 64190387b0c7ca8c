import type { ProtocolRow } from './queries.ts'
import { protocolsText } from './text.ts'

type Alternative = { all: readonly (readonly string[])[] }

/** Which messages start it: each rule by its name, its long lists of phrases folded. */
export function StartRules({ rules }: { rules: ProtocolRow['startRules'] }) {
  const t = protocolsText.useText()
  return rules.map(({ id, anyOf, noneOf }) => (
    <div key={id} className="start-rule">
      <code>{id}</code>
      {(anyOf as Alternative[]).map(({ all }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: alternatives have no name and never move
        <div key={index}>
          <p className="mute">{t(index === 0 ? 'facts.startAlternative' : 'facts.startOr')}</p>
          <ul className="rule-list">
            {all.map((phrases) => (
              <li key={phrases.join('\n')}>
                <Phrases phrases={phrases} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      {noneOf.length > 0 && (
        <div>
          <p className="mute">{t('facts.startNot')}</p>
          <Phrases phrases={noneOf} />
        </div>
      )}
    </div>
  ))
}

const few = 4

function Phrases({ phrases }: { phrases: readonly string[] }) {
  const t = protocolsText.useText()
  if (phrases.length <= few) return <span className="phrases">{phrases.join(' · ')}</span>
  return (
    <details className="phrases">
      <summary>
        <span className="truncate">{phrases.slice(0, few).join(' · ')} …</span>
        <small className="num mute">{t('facts.phrases', { count: phrases.length })}</small>
      </summary>
      {phrases.slice(few).join(' · ')}
    </details>
  )
}
