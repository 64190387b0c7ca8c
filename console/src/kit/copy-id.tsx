import { Tooltip } from '@mantine/core'
import { useState } from 'react'
import { kitText } from './text.ts'
import './copy-id.css'

/** An id that copies itself. Ids are opaque and long: the end is shown, the whole is copied and in the tooltip. */
export function CopyId({ id, length = 8 }: { id: string; length?: number }) {
  const t = kitText.useText()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 1200)
  }
  return (
    <Tooltip label={copied ? t('copied') : id}>
      <button
        type="button"
        className="copy-id mono"
        aria-label={t('copyId', { id })}
        onClick={(event) => {
          event.stopPropagation()
          void copy()
        }}
      >
        {id.length > length + 1 ? `…${id.replace(/=+$/, '').slice(-length)}` : id}
      </button>
    </Tooltip>
  )
}
