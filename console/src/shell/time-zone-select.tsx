import { useMemo } from 'react'
import { setPreferences, usePreferences } from '../kit/preferences.ts'
import { shellText } from './text.ts'

/** The browser's own list; a native field, because it has 400 entries and a phone shows it best. */
export function TimeZoneSelect() {
  const t = shellText.useText()
  const { timeZone } = usePreferences()
  const zones = useMemo(
    () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')],
    [],
  )
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <label>
      {t('preferences.timeZone')}
      <select value={timeZone} onChange={(event) => setPreferences({ timeZone: event.currentTarget.value })}>
        <option value="system">{t('preferences.browserZone', { zone: own })}</option>
        {zones.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
    </label>
  )
}
