import { Tooltip } from '@mantine/core'
import { useState } from 'react'
import { copyText } from './copy-text.ts'
import { kitText } from './text.ts'
import './copy-id.css'

/** An id that copies itself. Ids are opaque and long: the end is shown, the whole is copied and in the tooltip. */
export function CopyId({ id, length = 8 }: { id: string; length?: number }) {
  const t = kitText.useText()
  const [copied, setCopied] = useState(false)
  const end = id.replace(/=+$/, '').slice(-length)
  const cut = id.length > length + 1
  const copy = async () => {
    await copyText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 1200)
  }
  return (
    <Tooltip label={copied ? t('copied') : id}>
      <button
        type="button"
        className="copy-id mono"
        data-cut={cut || undefined}
        aria-label={cut ? `${end}. ${t('copyId', { id })}` : t('copyId', { id })}
        onClick={(event) => {
          event.stopPropagation()
          void copy()
        }}
      >
        {cut ? end : id}
      </button>
    </Tooltip>
  )
}
