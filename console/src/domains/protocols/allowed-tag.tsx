import { protocolsText } from './text.ts'

/** Whether the project lets it be used; the exception has an outline and a shape of its own. */
export function AllowedTag({ allowed }: { allowed: boolean }) {
  const t = protocolsText.useText()
  return (
    <span
      className="allowed-tag"
      data-off={!allowed || undefined}
      title={t(allowed ? 'allowedHint' : 'notAllowedHint')}
    >
      {t(allowed ? 'allowed' : 'notAllowed')}
    </span>
  )
}
