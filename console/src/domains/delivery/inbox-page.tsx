import { Button, Menu } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef } from 'react'
import { EmptyState, FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { useProject, useViewer } from '../../shell/viewer.ts'
import { InboxList } from './inbox-list.tsx'
import { InboxPane } from './inbox-pane.tsx'
import './inbox-page.css'
import type { InboxSearch } from './search.ts'
import { inboxText } from './text.ts'
import { useInbox } from './use-inbox.ts'

const kinds = [
  'TOOL_APPROVAL',
  'PLAN_APPROVAL',
  'QUESTION',
  'RUN_FAILED',
  'EFFECTS_UNKNOWN',
  'RUN_UNSUPPORTED',
] as const

export function InboxPage() {
  const t = inboxText.useText()
  const project = useProject()
  const viewer = useViewer()
  const search = useSearch({ from: '/app/p/$slug/inbox' })
  const navigate = useNavigate({ from: '/p/$slug/inbox' })
  const onSearch = useCallback(
    (change: Partial<InboxSearch>, replace = true) =>
      void navigate({ search: (old) => ({ ...old, ...change }), replace }),
    [navigate],
  )
  const { sections, hidden, open, waits, reread } = useInbox(project.id, search, viewer.id)
  const items = useMemo(() => sections.flatMap((section) => section.items), [sections])
  const waiting = items.filter((item) => item.state === 'OPEN')
  const current = items.find((item) => item.id === search.item) ?? waiting[0]
  const count = Math.max(waiting.length, open.hasMore ? (open.total ?? 0) : 0)

  const walk = useRef((_step: number) => {})
  walk.current = (step) => {
    const at = items.findIndex((item) => item.id === current?.id)
    const next = items[Math.min(items.length - 1, Math.max(0, at + step))]
    if (next) onSearch({ item: next.id })
  }
  useKeys(
    t('keys.title'),
    useMemo<KeyBinding[]>(
      () => [
        { keys: 'j', label: t('keys.next'), run: () => walk.current(1) },
        { keys: 'k', label: t('keys.previous'), run: () => walk.current(-1) },
      ],
      [t],
    ),
  )

  /** The next open item is shown when this one is done: work goes on without the mouse. */
  const afterAnswer = () => {
    const at = waiting.findIndex((item) => item.id === current?.id)
    const next = waiting[at + 1] ?? waiting[at - 1]
    onSearch({ item: next?.id })
    reread()
  }
  const filtered = search.kind !== undefined
  return (
    <div className="page inbox" data-open={search.item !== undefined || undefined}>
      <header className="page-head">
        <h1 aria-live="polite">{count === 0 ? t('nothing') : t('title', { count })}</h1>
        <span className="grow" />
        <KindMenu search={search} onSearch={onSearch} />
        <Button
          size="compact-xs"
          variant="default"
          title={t('filter.whose')}
          onClick={() => onSearch({ whose: search.whose ? undefined : 'everybody' })}
        >
          {search.whose ? t('filter.everybody') : t('filter.mine')}
        </Button>
        <span className="mute inbox-hint">{t('hint')}</span>
      </header>
      <div className="inbox-columns">
        <div className="inbox-list">
          {open.problem && <FailedState problem={open.problem} onRetry={reread} />}
          {!open.problem && !open.loading && items.length === 0 && hidden === 0 && !filtered && (
            <EmptyState title={t('empty')}>{t('emptyHint')}</EmptyState>
          )}
          {!open.problem && !open.loading && items.length === 0 && (filtered || hidden > 0) && (
            <FilteredEmpty
              hidden={hidden}
              onClear={() => onSearch({ kind: undefined, whose: 'everybody' })}
            />
          )}
          <InboxList
            sections={sections}
            current={current?.id}
            hasMore={open.hasMore}
            loadingMore={open.loadingMore}
            onMore={open.loadMore}
            onOpen={(item) => onSearch({ item: item.id }, false)}
          />
        </div>
        <InboxPane
          key={current?.id ?? 'none'}
          item={current}
          waits={waits}
          onDone={afterAnswer}
          onBack={() => onSearch({ item: undefined })}
        />
      </div>
    </div>
  )
}

type KindMenuProps = { search: InboxSearch; onSearch: (change: Partial<InboxSearch>) => void }

function KindMenu({ search, onSearch }: KindMenuProps) {
  const t = inboxText.useText()
  const label = search.kind ? t('filter.oneKind', { kind: t(`kind.${search.kind}`) }) : t('filter.allKinds')
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-xs" variant="default" title={t('filter.kind')}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onSearch({ kind: undefined })}>{t('filter.allKinds')}</Menu.Item>
        {kinds.map((kind) => (
          <Menu.Item key={kind} onClick={() => onSearch({ kind })}>
            {t(`kind.${kind}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
