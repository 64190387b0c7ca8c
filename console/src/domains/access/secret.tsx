import { Button } from '@mantine/core'
import { useState } from 'react'
import { copyText } from '../../kit/copy-text.ts'
import { accessText } from './text.ts'

/** Something shown once: the whole value, and a button that says when it was copied. */
export function Secret({ value, label }: { value: string; label: string }) {
  const t = accessText.useText()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(value)
    setCopied(true)
  }
  return (
    <div className="secret">
      <code>{value}</code>
      <Button size="compact-sm" onClick={() => void copy()}>
        {copied ? t('access.copied') : label}
      </Button>
    </div>
  )
}
