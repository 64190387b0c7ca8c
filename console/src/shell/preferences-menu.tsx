import { Button, Popover } from '@mantine/core'
import { useState } from 'react'
import { setPreferences, shownTimeZone, usePreferences } from '../kit/preferences.ts'
import { signOut } from './auth.ts'
import { shellText } from './text.ts'
import { TimeZoneSelect } from './time-zone-select.tsx'
import { useViewer } from './viewer.ts'
import './preferences-menu.css'

const themes = ['system', 'light', 'dark'] as const
const styles = ['automatic', 'relative', 'absolute'] as const

/** Theme, language, times and zone of this browser; who is signed in; the way out. */
export function PreferencesMenu({ onKeyboard }: { onKeyboard: () => void }) {
  const t = shellText.useText()
  const viewer = useViewer()
  const chosen = usePreferences()
  const [opened, setOpened] = useState(false)
  const leave = async () => {
    await signOut()
    // A full load: nothing of this person stays in memory.
    location.assign('/sign-in')
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={280}
      position="bottom-end"
      shadow="md"
      trapFocus
      withinPortal={false}
    >
      <Popover.Target>
        <button
          type="button"
          className="tag shell-account"
          aria-label={`${shownTimeZone(chosen)}. ${t('preferences.label')}`}
          onClick={() => setOpened(!opened)}
        >
          <span className="shell-zone-name">{shownTimeZone(chosen)}</span>
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
      </Popover.Target>
      <Popover.Dropdown aria-label={t('preferences.label')} className="preferences">
        <label>
          {t('preferences.theme')}
          <select
            value={chosen.theme}
            onChange={(event) => setPreferences({ theme: event.currentTarget.value as typeof chosen.theme })}
          >
            {themes.map((theme) => (
              <option key={theme} value={theme}>
                {t(`preferences.${theme}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('preferences.language')}
          <select
            value={chosen.language}
            onChange={(event) =>
              setPreferences({ language: event.currentTarget.value === 'zh' ? 'zh' : 'en' })
            }
          >
            <option value="en">English</option>
            <option value="zh">中文</option>
          </select>
        </label>
        <label>
          {t('preferences.times')}
          <select
            value={chosen.timeStyle}
            onChange={(event) =>
              setPreferences({ timeStyle: event.currentTarget.value as typeof chosen.timeStyle })
            }
          >
            {styles.map((style) => (
              <option key={style} value={style}>
                {t(`preferences.${style}`)}
              </option>
            ))}
          </select>
        </label>
        <TimeZoneSelect />
        <hr />
        <Button
          variant="default"
          rightSection={<kbd>?</kbd>}
          onClick={() => {
            setOpened(false)
            onKeyboard()
          }}
        >
          {t('preferences.keyboard')}
        </Button>
        <p className="mute">{t('preferences.signedInAs', { name: viewer.name })}</p>
        <Button variant="default" onClick={() => void leave()}>
          {t('preferences.signOut')}
        </Button>
      </Popover.Dropdown>
    </Popover>
  )
}
