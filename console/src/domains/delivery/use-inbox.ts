import { useEffect, useMemo } from 'react'
import { useQuery } from 'urql'
import { usePages } from '../../data/pages.ts'
import { watch } from '../../data/watch.ts'
import { useNow } from '../../kit/now.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { dayTime } from '../../kit/time.ts'
import { byHandling, byUrgency, groupOf, groupOrder, type InboxGroup } from './inbox-groups.ts'
import { InboxChanged, type InboxItem, InboxQuery, WaitsQuery } from './inbox-query.ts'
import type { InboxSearch } from './search.ts'

export interface InboxSection {
  group: InboxGroup
  items: InboxItem[]
}

/** The inbox of a project, in its groups; read again whenever the server says that it changed. */
export function useInbox(projectId: string, search: InboxSearch, viewerId: string) {
  const kinds = search.kind ? { kinds: [search.kind] } : {}
  const open = usePages(InboxQuery, { projectId, ...kinds, states: ['OPEN' as const] }, (data) => data.inbox)
  const done = usePages(
    InboxQuery,
    { projectId, ...kinds, states: ['ACKNOWLEDGED' as const, 'HANDLED' as const] },
    (data) => data.inbox,
  )
  const [waits, rereadWaits] = useQuery({ query: WaitsQuery, variables: { projectId } })
  const now = useNow()
  const zone = shownTimeZone(usePreferences())
  const { refresh } = open
  const refreshDone = done.refresh
  useEffect(() => {
    const read = () => {
      void refresh()
      void refreshDone()
      rereadWaits({ requestPolicy: 'network-only' })
    }
    return watch(InboxChanged, () => ({ projectId }), { next: read })
  }, [projectId, refresh, refreshDone, rereadWaits])

  const sections = useMemo(() => {
    const midnight = dayTime(now, zone, 0, 0)
    const mine = (item: InboxItem) =>
      search.whose === 'everybody' || item.assignee === null || item.assignee.id === viewerId
    const today = done.rows.filter((item) => Date.parse(item.handledAt ?? item.since) >= midnight)
    const groups = new Map<InboxGroup, InboxItem[]>(groupOrder.map((group) => [group, []]))
    for (const item of [...open.rows, ...today]) if (mine(item)) groups.get(groupOf(item, now))?.push(item)
    return groupOrder.map((group): InboxSection => {
      const items = groups.get(group) ?? []
      return { group, items: items.sort(group === 'handled' ? byHandling : byUrgency) }
    })
  }, [open.rows, done.rows, now, zone, search.whose, viewerId])

  const hidden = open.rows.length - sections.slice(0, 3).reduce((sum, each) => sum + each.items.length, 0)
  return { sections, hidden, open, waits: waits.data?.waits ?? [], reread: () => void refresh() }
}
