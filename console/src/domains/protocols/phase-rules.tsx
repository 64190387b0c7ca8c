import type { PhaseRow, ProtocolRow } from './queries.ts'
import { protocolsText } from './text.ts'
import { useWayWords } from './way-words.ts'

/** `ungoverned` is said in words; a name is a name. */
export function ActionName({ action }: { action: string }) {
  const t = protocolsText.useText()
  return action === 'ungoverned' ? <span>{t('phase.ungoverned')}</span> : <code>{action}</code>
}

type PhaseRulesProps = { protocol: ProtocolRow; phase: PhaseRow; onOpen: (phase: string) => void }

/** What may be done in a phase, and what leads on from it and to it. */
export function PhaseRules({ protocol, phase, onOpen }: PhaseRulesProps) {
  const t = protocolsText.useText()
  const { way } = useWayWords()
  const from = protocol.phases.filter(
    ({ name, transitions }) => name !== phase.name && transitions.some(({ to }) => to === phase.name),
  )
  const approvals = new Set(phase.needsApproval)
  // An approval pattern may be narrower than what allows it: then it is a line of its own.
  const actions = [
    ...phase.allowedActions,
    ...phase.needsApproval.filter((action) => !phase.allowedActions.includes(action)),
  ]
  return (
    <>
      {phase.name === protocol.initialPhase && <p className="mute">{t('phase.begins')}</p>}
      {phase.final && <p className="mute">{t('phase.ends')}</p>}
      <section aria-label={t('phase.may')}>
        <h3>{t('phase.may')}</h3>
        {actions.length === 0 && <p className="mute">{t('phase.nothing')}</p>}
        <ul className="rule-list">
          {actions.map((action) => (
            <li key={action}>
              <ActionName action={action} />
              {approvals.has(action) && <span className="phase-gate">{t('phase.needsApproval')}</span>}
            </li>
          ))}
        </ul>
      </section>
      <section aria-label={t('phase.leads')}>
        <h3>{t('phase.leads')}</h3>
        {phase.transitions.length === 0 && <p className="mute">{t('phase.leadsNowhere')}</p>}
        <ul className="rule-list">
          {phase.transitions.map((transition) => {
            const words = way(transition)
            return (
              <li key={`${transition.to} ${words}`} className="rule-way">
                <button type="button" className="link-button" onClick={() => onOpen(transition.to)}>
                  {transition.to}
                </button>
                <span className="mute">{words}</span>
              </li>
            )
          })}
        </ul>
        {phase.transitions.length > 1 && <p className="mute">{t('phase.firstApplies')}</p>}
      </section>
      {from.length > 0 && (
        <section aria-label={t('phase.cameFrom')}>
          <h3>{t('phase.cameFrom')}</h3>
          <ul className="rule-list">
            {from.map(({ name }) => (
              <li key={name}>
                <button type="button" className="link-button" onClick={() => onOpen(name)}>
                  {name}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
