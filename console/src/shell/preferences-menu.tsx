import { Menu } from '@mantine/core'
import { preferences, setPreferences, shownTimeZone, usePreferences } from '../kit/preferences.ts'
import { signOut } from './auth.ts'
import { shellText } from './text.ts'
import { TimeZoneSelect } from './time-zone-select.tsx'
import { useViewer } from './viewer.ts'

const mark = (chosen: boolean) => <span aria-hidden="true">{chosen ? '✓' : ''}</span>

/** Theme, language, times and zone of this browser; who is signed in; the way out. */
export function PreferencesMenu({ onKeyboard }: { onKeyboard: () => void }) {
  const t = shellText.useText()
  const viewer = useViewer()
  const chosen = usePreferences()
  const leave = async () => {
    await signOut()
    // A full load: nothing of this person stays in memory.
    location.assign('/sign-in')
  }
  const choice = <Key extends 'theme' | 'language' | 'timeStyle'>(
    key: Key,
    value: (typeof chosen)[Key],
    label: string,
  ) => (
    <Menu.Item
      key={value}
      role="menuitemradio"
      aria-checked={chosen[key] === value}
      closeMenuOnClick={false}
      rightSection={mark(chosen[key] === value)}
      onClick={() => setPreferences({ [key]: value })}
    >
      {label}
    </Menu.Item>
  )
  return (
    <Menu width={280} position="bottom-end" keepMounted={false}>
      <Menu.Target>
        <button
          type="button"
          className="tag shell-account"
          aria-label={`${shownTimeZone(preferences())}. ${t('preferences.label')}`}
        >
          <span className="shell-zone-name">{shownTimeZone(preferences())}</span>
          <svg
            width="14"
            height="14"
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
            aria-hidden="true"
          >
            <path d="M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7" />
            <circle cx="11" cy="4.5" r="1.8" />
            <circle cx="5" cy="11.5" r="1.8" />
          </svg>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('preferences.theme')}</Menu.Label>
        {choice('theme', 'system', t('preferences.system'))}
        {choice('theme', 'light', t('preferences.light'))}
        {choice('theme', 'dark', t('preferences.dark'))}
        <Menu.Label>{t('preferences.language')}</Menu.Label>
        {choice('language', 'en', 'English')}
        {choice('language', 'zh', '中文')}
        <Menu.Label>{t('preferences.times')}</Menu.Label>
        {choice('timeStyle', 'automatic', t('preferences.automatic'))}
        {choice('timeStyle', 'relative', t('preferences.relative'))}
        {choice('timeStyle', 'absolute', t('preferences.absolute'))}
        <TimeZoneSelect />
        <Menu.Divider />
        <Menu.Item rightSection={<kbd>?</kbd>} onClick={onKeyboard}>
          {t('preferences.keyboard')}
        </Menu.Item>
        <Menu.Label>{t('preferences.signedInAs', { name: viewer.name })}</Menu.Label>
        <Menu.Item onClick={() => void leave()}>{t('preferences.signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
