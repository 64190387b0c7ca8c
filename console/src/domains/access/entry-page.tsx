import type { ReactNode } from 'react'
import { setPreferences, usePreferences } from '../../kit/preferences.ts'
import { BrandMark } from '../../shell/brand-mark.tsx'
import { shellText } from '../../shell/text.ts'
import './entry.css'

/** The frame of the pages before the shell: brand, one form, language and theme. */
export function EntryPage({ children }: { children: ReactNode }) {
  const t = shellText.useText()
  const { language, theme } = usePreferences()
  return (
    <div className="entry">
      <header className="entry-brand">
        <BrandMark /> {t('product')}
      </header>
      <main>{children}</main>
      <footer className="entry-foot">
        <select
          aria-label={t('preferences.language')}
          value={language}
          onChange={(event) => setPreferences({ language: event.currentTarget.value === 'zh' ? 'zh' : 'en' })}
        >
          <option value="en">English</option>
          <option value="zh">中文</option>
        </select>
        <select
          aria-label={t('preferences.theme')}
          value={theme}
          onChange={(event) => setPreferences({ theme: event.currentTarget.value as typeof theme })}
        >
          <option value="system">{t('preferences.system')}</option>
          <option value="light">{t('preferences.light')}</option>
          <option value="dark">{t('preferences.dark')}</option>
        </select>
      </footer>
    </div>
  )
}
