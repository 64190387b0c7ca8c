import { CloseButton } from '@mantine/core'
import { lazy, Suspense, useCallback, useRef } from 'react'
import { kitText } from '../../kit/text.ts'
import { AppPending } from '../../shell/pending.tsx'
import { PhaseRules } from './phase-rules.tsx'
import { ProtocolRules } from './protocol-rules.tsx'
import type { ProtocolRow } from './queries.ts'
import { protocolsText } from './text.ts'

const PhaseCanvas = lazy(() =>
  import('./phase-canvas.tsx').then(({ PhaseCanvas }) => ({ default: PhaseCanvas })),
)

type PhasesViewProps = {
  protocol: ProtocolRow
  /** The phase whose rules are shown; those of the whole protocol when absent. Keep it in the address. */
  open: string | undefined
  onOpen: (phase: string | undefined) => void
}

/** The phases drawn, and beside them the rules of one, or those of all. */
export function PhasesView({ protocol, open, onOpen }: PhasesViewProps) {
  const t = protocolsText.useText()
  const kit = kitText.useText()
  const phase = protocol.phases.find(({ name }) => name === open)
  const latest = useRef(onOpen)
  latest.current = onOpen
  const show = useCallback((name: string) => latest.current(name), [])
  return (
    <div className="phases">
      <div className="phases-graph">
        <Suspense fallback={<AppPending />}>
          <PhaseCanvas
            name={protocol.name}
            phases={protocol.phases}
            initialPhase={protocol.initialPhase}
            open={phase?.name}
            onOpen={show}
          />
        </Suspense>
      </div>
      <aside
        className="phases-rules"
        aria-label={phase ? t('openPhase', { name: phase.name }) : t('facts.title')}
      >
        {phase ? (
          <>
            <header>
              <h2>
                <small className="mute">{t('phase.title')}</small>
                <code>{phase.name}</code>
              </h2>
              <CloseButton size="sm" aria-label={kit('close')} onClick={() => onOpen(undefined)} />
            </header>
            <PhaseRules protocol={protocol} phase={phase} onOpen={show} />
          </>
        ) : (
          <>
            <header>
              <h2>{t('facts.title')}</h2>
            </header>
            <ProtocolRules protocol={protocol} />
          </>
        )}
      </aside>
    </div>
  )
}
