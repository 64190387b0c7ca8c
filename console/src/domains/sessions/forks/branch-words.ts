import type { FamilyOrigin, FamilyPlace } from './family.ts'
import { forksText } from './text.ts'

/** “Checkpoint 3 · after run 3 · r2”, or the name that it was given. */
export function usePlaceWords(): (place: Omit<FamilyPlace, 'id' | 'sequence' | 'at'>) => string {
  const t = forksText.useText()
  return ({ number, label, runNumber, revision }) =>
    [
      label ? `${t('checkpoint', { number })} “${label}”` : t('checkpoint', { number }),
      runNumber !== null && t('afterRun', { number: runNumber }),
      revision !== null && t('revision', { number: revision }),
    ]
      .filter(Boolean)
      .join(' · ')
}

/** Where a fork began, in words; undefined for what is no fork. */
export function useOriginWords(): (origin: FamilyOrigin | null) => string | undefined {
  const t = forksText.useText()
  return (origin) => {
    if (!origin) return undefined
    const { checkpoint, run, revision } = origin
    const at = checkpoint
      ? t('forkedAt', { number: checkpoint.number })
      : run
        ? t('forkedBefore', { number: run.number })
        : t('forkedSomewhere')
    return revision === null ? at : `${at} · ${t('revision', { number: revision })}`
  }
}
