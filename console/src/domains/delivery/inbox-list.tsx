import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useNow } from '../../kit/now.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { deadlineText, useDecisionName } from '../runs/approval-words.tsx'
import { itemMark } from './inbox-groups.ts'
import type { InboxItem } from './inbox-query.ts'
import { inboxText } from './text.ts'
import type { InboxSection } from './use-inbox.ts'

type InboxListProps = {
  sections: readonly InboxSection[]
  current: string | undefined
  hasMore: boolean
  loadingMore: boolean
  onMore: () => void
  onOpen: (item: InboxItem) => void
}

export function InboxList({ sections, current, hasMore, loadingMore, onMore, onOpen }: InboxListProps) {
  const t = inboxText.useText()
  const words = kitText.useText()
  return (
    <>
      {sections.map(
        ({ group, items }) =>
          items.length > 0 && (
            <section key={group} aria-label={t(`group.${group}`)}>
              <h2 className="inbox-group">
                {t(`group.${group}`)} <span className="num">{items.length}</span>
              </h2>
              <ul className="inbox-items" data-group={group}>
                {items.map((item) => (
                  <ItemRow key={item.id} item={item} current={item.id === current} onOpen={onOpen} />
                ))}
              </ul>
            </section>
          ),
      )}
      {hasMore && (
        <Button
          className="inbox-more"
          size="compact-xs"
          variant="default"
          loading={loadingMore}
          onClick={onMore}
        >
          {words('loadMore')}
        </Button>
      )}
    </>
  )
}

type ItemRowProps = { item: InboxItem; current: boolean; onOpen: (item: InboxItem) => void }

function ItemRow({ item, current, onOpen }: ItemRowProps) {
  const t = inboxText.useText()
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const { session, run } = item
  return (
    <li ref={row} className="inbox-item" aria-current={current ? 'true' : undefined}>
      <StateMark kind={itemMark(item)}>
        {item.state === 'OPEN' ? t(`kind.${item.kind}`) : t(`state.${item.state}`)}
      </StateMark>
      <div className="inbox-what">
        <button type="button" className="inbox-open" onClick={() => onOpen(item)}>
          {item.title}
        </button>
        <small className="mute truncate">
          {[
            session?.title === item.title ? null : session?.title,
            run && t('row.run', { number: run.number }),
            run?.runtime?.name,
            item.approval ? null : item.why,
            item.assignee && t('row.assigned', { name: item.assignee.name }),
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </div>
      <div className="inbox-when">
        <Timestamp at={item.handledAt ?? item.since} />
        <Due item={item} />
      </div>
    </li>
  )
}

/** What happens by itself, and when. */
function Due({ item }: { item: InboxItem }) {
  const t = inboxText.useText()
  const zone = shownTimeZone(usePreferences())
  const now = useNow()
  const name = useDecisionName()
  if (item.state !== 'OPEN')
    return item.handledBy ? <small className="mute truncate">{item.handledBy.name}</small> : null
  if (item.snoozedUntil !== null && Date.parse(item.snoozedUntil) > now)
    return (
      <small className="mute num">
        {t('row.until', { time: deadlineText(item.snoozedUntil, now, zone) })}
      </small>
    )
  if (item.deadline === null) return null
  const time = deadlineText(item.deadline, now, zone)
  return (
    <small className="inbox-due num">
      {item.defaultDecision === null ? time : t('row.at', { decision: name(item.defaultDecision), time })}
    </small>
  )
}
