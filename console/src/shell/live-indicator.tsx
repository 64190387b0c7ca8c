import { Button, Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { liveState, onLiveState, reconnectNow } from '../data/live.ts'
import { useNow } from '../kit/now.ts'
import { usePreferences } from '../kit/preferences.ts'
import { shortDuration } from '../kit/time.ts'
import { shellText } from './text.ts'

/**
 * Whether what is on the screen is still true: live, reconnecting, or stale with its age. Where there is nothing to
 * watch yet, before the first project, that nothing is watched is no news.
 */
export function LiveIndicator({ watchable }: { watchable: boolean }) {
  const t = shellText.useText()
  const { phase, since } = useSyncExternalStore(onLiveState, liveState)
  const { language } = usePreferences()
  const lost = phase === 'reconnecting' || phase === 'stale'
  const now = useNow(lost ? 1_000 : 15_000)
  const age = shortDuration(now - since, language)
  if (phase === 'idle' && !watchable) return null
  const explain =
    phase === 'stale'
      ? t('live.explainStale')
      : phase === 'reconnecting'
        ? t('live.explainReconnecting')
        : t('live.explainLive')
  return (
    <>
      <Tooltip label={explain}>
        <span className="live num" data-phase={phase} role="status" aria-label={t(`live.${phase}`, { age })}>
          <span aria-hidden="true">{t(`live.${phase}`, { age })}</span>
        </span>
      </Tooltip>
      {phase === 'stale' && (
        <Button variant="default" size="compact-xs" onClick={reconnectNow}>
          {t('live.reconnect')}
        </Button>
      )}
    </>
  )
}
