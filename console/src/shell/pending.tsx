import { shellText } from './text.ts'

/** What is there while the first code and the first answer arrive; no spinner, it lasts a blink. */
export function AppPending() {
  const t = shellText.useText()
  return (
    <output className="visually-hidden" aria-live="polite">
      {t('error.loading')}
    </output>
  )
}
