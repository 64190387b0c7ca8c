import { Tooltip } from '@mantine/core'
import { useState } from 'react'
import { copyText } from './copy-text.ts'
import { useNow } from './now.ts'
import { preferences, shownTimeZone, usePreferences } from './preferences.ts'
import { kitText } from './text.ts'
import { absoluteTime, clockTime, relativeTime, utcTime } from './time.ts'
import './timestamp.css'

type TimestampProps = {
  /** ISO 8601, as the server sends it. */
  at: string
  /** A ledger shows absolute times, a list relative ones, unless the person chose one for everything. */
  ledger?: boolean
  /** `clock` leaves the day out, for rows under a heading that names it. */
  show?: 'full' | 'clock'
}

/** The only way a time is shown: zone and style as chosen, both plus UTC in the tooltip, a click copies ISO. */
export function Timestamp({ at, ledger = false, show = 'full' }: TimestampProps) {
  const t = kitText.useText()
  const chosen = usePreferences()
  const now = useNow()
  const [copied, setCopied] = useState(false)
  const moment = Date.parse(at)
  const zone = shownTimeZone(chosen)
  const absolute = absoluteTime(moment, zone)
  const relative = relativeTime(moment, now, chosen.language)
  const asAbsolute = chosen.timeStyle === 'absolute' || (chosen.timeStyle === 'automatic' && ledger)
  const iso = new Date(moment).toISOString()
  const copy = async () => {
    await copyText(iso)
    setCopied(true)
    setTimeout(() => setCopied(false), 1200)
  }
  return (
    <Tooltip
      multiline
      label={
        <span className="num timestamp-tip">
          {copied ? t('copied') : relative}
          <br />
          {absolute} {zone}
          <br />
          {utcTime(moment)}
        </span>
      }
    >
      <button
        type="button"
        className="timestamp num"
        aria-label={`${asAbsolute ? absolute : relative}. ${t('copyTime', { iso })}`}
        onClick={(event) => {
          event.stopPropagation()
          void copy()
        }}
      >
        <time dateTime={iso}>
          {asAbsolute ? (show === 'clock' ? clockTime(moment, zone) : absolute) : relative}
        </time>
      </button>
    </Tooltip>
  )
}

/** The same clock for text that can't hold an element, for example an accessible name. */
export const timeText = (at: string): string => absoluteTime(Date.parse(at), shownTimeZone(preferences()))
