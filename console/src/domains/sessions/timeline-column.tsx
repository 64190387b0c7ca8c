import { Button } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { EmptyState, FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import type { TailState } from './event-tail.ts'
import { hasEarlier } from './event-window.ts'
import type { SessionSearch } from './search.ts'
import type { JournalSnapshot, SessionJournal } from './session-journal.ts'
import { sessionText } from './text.ts'
import './timeline.css'
import type { TimelineRow } from './timeline-draft.ts'
import { TimelineHead } from './timeline-head.tsx'
import { Row, type RowActions } from './timeline-row.tsx'

/** How near an end the reader comes before the next page is asked for, in rows. */
const NEAR = 30
/**
 * Pages that are read without the reader moving. Where thousands of events fold into one row the list would
 * otherwise never be long enough and read the whole history.
 */
const MOST_UNASKED = 3
/** Pixels, as in timeline.css; the least that a row takes. */
const ROW_HEIGHT = 30
/** How far from the end still counts as being at the live edge, in pixels. */
const EDGE = 40

type TimelineColumnProps = {
  journal: SessionJournal
  search: SessionSearch
  onSearch: (change: Partial<SessionSearch>, replace?: boolean) => void
}

export function TimelineColumn({ journal, search, onSearch }: TimelineColumnProps) {
  const t = sessionText.useText()
  const state = useSyncExternalStore(journal.subscribe, journal.snapshot)
  const actions = useMemo<RowActions>(
    () => ({
      open: (sequence) => onSearch({ event: sequence }),
      onlyRun: (run) => onSearch({ run }),
    }),
    [onSearch],
  )
  return (
    <section className="session-column tl" aria-label={t('timeline.title')}>
      <TimelineHead
        journal={journal}
        search={search}
        onSearch={onSearch}
        paused={state.window?.paused ?? false}
        catchingUp={state.tail.name === 'replaying'}
        runNumber={state.timeline.rows.find((row) => row.runId === search.run)?.runNumber}
      />
      <TailNotice journal={journal} tail={state.tail} />
      <TimelineBody journal={journal} state={state} search={search} onSearch={onSearch} actions={actions} />
    </section>
  )
}

/** What the tail has to say: gone stale, ended, or events that retention took. */
const TailNotice = memo(function TailNotice({ journal, tail }: { journal: SessionJournal; tail: TailState }) {
  const t = sessionText.useText()
  if (tail.name === 'idle') return null
  const notices: ReactNode[] = tail.gaps.map((gap) => (
    <p key={gap.from}>{t('timeline.gap', { from: gap.from, to: gap.to })}</p>
  ))
  if (tail.name === 'stale')
    notices.push(
      <p key="stale" role="alert">
        {t('tail.stale')} <Timestamp at={new Date(tail.since).toISOString()} ledger />{' '}
        <Button size="compact-xs" variant="default" onClick={() => journal.retryTail()}>
          {t('tail.again')}
        </Button>
      </p>,
    )
  if (tail.name === 'ended' && tail.reason === 'SESSION_CLOSED')
    notices.push(<p key="ended">{t('tail.closed')}</p>)
  if (tail.name === 'ended' && tail.reason === 'SESSION_DELETED')
    notices.push(<p key="ended">{t('tail.deleted')}</p>)
  if (tail.name === 'ended' && tail.reason === 'REVOKED') notices.push(<p key="ended">{t('tail.revoked')}</p>)
  return notices.length === 0 ? null : <div className="tl-notice">{notices}</div>
})

/** Only an open gate has to be measured; every other row is one line of a fixed height. */
function measures(row: TimelineRow): boolean {
  return row.kind === 'gate' && row.approval.state === 'OPEN'
}

/** Pixels, the same as in timeline.css. */
function heightOf(row: TimelineRow | undefined): number {
  if (row === undefined) return 30
  if (measures(row)) return 168
  return row.kind === 'turn' ? 38 : 30
}

type TimelineBodyProps = TimelineColumnProps & { state: JournalSnapshot; actions: RowActions }

function TimelineBody({ journal, state, search, onSearch, actions }: TimelineBodyProps) {
  const t = sessionText.useText()
  const scroller = useRef<HTMLDivElement>(null)
  const { window, timeline, busy, problem } = state
  const { rows } = timeline
  const attached = window?.attached ?? false
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 16,
    anchorTo: 'end',
    followOnAppend: attached && !(window?.paused ?? false),
    scrollEndThreshold: EDGE,
    paddingEnd: 48,
    onChange: (instance) => journal.reading(!instance.isAtEnd(EDGE)),
  })
  const items = virtualizer.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0

  const [unasked, setUnasked] = useState(0)
  /** The reader moves: what was loaded was wanted. */
  const onMove = () => unasked > 0 && setUnasked(0)

  const selectedIndex = useMemo(() => {
    const { event } = search
    if (event === undefined) return -1
    const exact = rows.findIndex((row) => row.sequence === event)
    if (exact >= 0) return exact
    // Folded into another row, or without one in short: the row it happened under.
    const holding = rows.findLastIndex((row) => row.sequence < event && row.lastSequence >= event)
    return holding >= 0 ? holding : rows.findLastIndex((row) => row.sequence < event)
  }, [rows, search])
  useScrollToPlace(virtualizer, state.place, selectedIndex)
  useScrollToSelected(virtualizer, selectedIndex, search.event)
  useEffect(() => {
    if (rows.length === 0 || busy !== undefined) return
    if (last > rows.length - NEAR) journal.loadLater()
    // What was rendered first is the top of the list; where the reader was taken since, the scroller knows.
    if ((scroller.current?.scrollTop ?? 0) > NEAR * ROW_HEIGHT) return
    if (first >= NEAR || unasked >= MOST_UNASKED || !window || !hasEarlier(window)) return
    setUnasked(unasked + 1)
    journal.loadEarlier()
  }, [journal, first, last, rows.length, busy, unasked, window])

  const steps = useRef((_step: number) => {})
  steps.current = (step) => {
    const seen = virtualizer.range ?? { startIndex: 0, endIndex: 0 }
    const from = selectedIndex >= 0 ? selectedIndex : step > 0 ? seen.startIndex - 1 : seen.endIndex + 1
    const row = rows[Math.min(rows.length - 1, Math.max(0, from + step))]
    if (row) onSearch({ event: row.sequence }, true)
  }
  const bindings = useMemo<KeyBinding[]>(
    () => [
      { keys: 'j', label: t('keys.next'), run: () => steps.current(1) },
      { keys: 'k', label: t('keys.previous'), run: () => steps.current(-1) },
      { keys: 'shift+g', label: t('keys.edge'), run: () => journal.openEdge() },
      { keys: 'g g', label: t('keys.start'), run: () => journal.openStart() },
      { keys: 'escape', label: t('keys.close'), run: () => onSearch({ event: undefined }) },
    ],
    [t, journal, onSearch],
  )
  useKeys(t('timeline.title'), bindings)

  const firstOpenGate = rows.find((row) => row.kind === 'gate' && row.approval.state === 'OPEN')?.key
  if (window === undefined && problem)
    return <FailedState problem={problem} onRetry={() => journal.start(search.event)} />
  if (window !== undefined && rows.length === 0 && busy === undefined && !hasEarlier(window))
    return search.types || search.run ? (
      <FilteredEmpty onClear={() => onSearch({ types: undefined, run: undefined })} />
    ) : (
      <EmptyState title={t('timeline.empty')} />
    )
  return (
    <div className="tl-frame">
      <div
        className="tl-scroll"
        ref={scroller}
        role="log"
        aria-label={t('timeline.rows')}
        aria-live="off"
        onWheel={onMove}
        onTouchMove={onMove}
        onKeyDown={onMove}
        onPointerDown={onMove}
      >
        {window && hasEarlier(window) && unasked >= MOST_UNASKED && busy === undefined && (
          <Button
            className="tl-more"
            size="compact-xs"
            variant="default"
            onClick={() => journal.loadEarlier()}
          >
            {t('timeline.loadEarlier')}
          </Button>
        )}
        {window && !hasEarlier(window) && (
          <p className="tl-beginning mute">
            {window.earliest > 1
              ? t('timeline.removed', { sequence: window.earliest })
              : t('timeline.beginning')}
          </p>
        )}
        <div className="tl-rows" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index]
            if (!row) return null
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={measures(row) ? virtualizer.measureElement : undefined}
                className="tl-slot"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row
                  row={row}
                  selected={item.index === selectedIndex}
                  answersByKey={row.key === firstOpenGate}
                  actions={actions}
                />
              </div>
            )
          })}
        </div>
      </div>
      {problem && <FailedState problem={problem} onRetry={() => journal.loadEarlier()} />}
      <EdgePill
        state={state}
        atEnd={virtualizer.isAtEnd(EDGE)}
        onEdge={() => journal.openEdge()}
        onStart={() => journal.openStart()}
      />
    </div>
  )
}

type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>

/** An event that the address names is brought into view once, not each time that rows arrive. */
function useScrollToSelected(virtualizer: Virtual, index: number, event: number | undefined): void {
  const done = useRef<number>(undefined)
  useEffect(() => {
    if (event === undefined) done.current = undefined
    if (event === undefined || index < 0 || done.current === event) return
    done.current = event
    virtualizer.scrollToIndex(index, { align: 'auto' })
  }, [virtualizer, index, event])
}

/** Takes the reader where the journal was opened. */
function useScrollToPlace(virtualizer: Virtual, place: JournalSnapshot['place'], selected: number): void {
  const index = useRef(selected)
  index.current = selected
  useEffect(() => {
    if (place === undefined) return
    if (place.at === 'edge') virtualizer.scrollToEnd()
    else if (place.at === 'start') virtualizer.scrollToIndex(0, { align: 'start' })
    else if (index.current >= 0) virtualizer.scrollToIndex(index.current, { align: 'center' })
  }, [virtualizer, place])
}

type EdgePillProps = { state: JournalSnapshot; atEnd: boolean; onEdge: () => void; onStart: () => void }

function EdgePill({ state, atEnd, onEdge, onStart }: EdgePillProps) {
  const t = sessionText.useText()
  const { window, busy } = state
  if (window === undefined) return null
  const away = !atEnd || !window.attached || window.paused
  return (
    <div className="tl-pills">
      {busy !== undefined && (
        <span className="tl-pill" role="status">
          {busy === 'earlier' ? t('timeline.loadingEarlier') : t('timeline.loadingLater')}
        </span>
      )}
      {away && (
        <>
          {hasEarlier(window) && (
            <button type="button" className="tl-pill" onClick={onStart}>
              {t('timeline.start')} ↑
            </button>
          )}
          <button
            type="button"
            className="tl-pill"
            data-strong={window.unseen > 0 || undefined}
            onClick={onEdge}
          >
            {window.unseen > 0 ? t('timeline.new', { count: window.unseen }) : t('timeline.edge')} ↓
          </button>
        </>
      )}
    </div>
  )
}
