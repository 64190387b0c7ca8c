import { Button, Checkbox } from '@mantine/core'
import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useKeys } from './keys.ts'
import { kitText } from './text.ts'
import './data-table.css'

export type DataColumn<Row> = {
  id: string
  header: string
  /** Pixels; without it the column takes what is left. */
  width?: number
  align?: 'end'
  /** The header is for screen readers only, for a column of buttons. */
  quiet?: boolean
  /** Left out on a phone. */
  wide?: boolean
  cell: (row: Row) => ReactNode
}

type DataTableProps<Row extends { id: string }> = {
  /** Names the table for screen readers. */
  label: string
  rows: readonly Row[]
  columns: readonly DataColumn<Row>[]
  /** Ids of the columns to show, in order; all when left out. */
  visible?: readonly string[] | undefined
  rowName: (row: Row) => string
  /** The row that j and k walk from; keep it in the address. */
  active?: string | undefined
  onActive?: ((row: Row) => void) | undefined
  onOpen?: ((row: Row) => void) | undefined
  selected?: ReadonlySet<string>
  onSelect?: (ids: ReadonlySet<string>) => void
  total?: number | null
  hasMore?: boolean
  loading?: boolean
  loadingMore?: boolean
  outdated?: boolean
  onMore?: () => void
  /** Shown instead of the rows when there are none: name the cause. */
  empty: ReactNode
}

const rowHeight = 32
const features = tableFeatures({})

/**
 * A list of records: 32 px rows, only those in view in the document, walked with j and k, selected with x,
 * opened with Enter, more pages as the end comes near.
 */
export function DataTable<Row extends { id: string }>(props: DataTableProps<Row>) {
  const { rows, columns, visible, active, onActive, onOpen, onSelect, rowName } = props
  const t = kitText.useText()
  const selected = props.selected ?? new Set<string>()
  const scroller = useRef<HTMLDivElement>(null)
  const shown = useMemo(
    () =>
      visible
        ? visible.flatMap((id) => columns.find((column) => column.id === id) ?? [])
        : columns.filter(Boolean),
    [columns, visible],
  )
  const definitions = useMemo(
    () =>
      shown.map(
        (column): ColumnDef<typeof features, Row> => ({
          id: column.id,
          header: column.header,
          cell: ({ row }) => column.cell(row.original),
        }),
      ),
    [shown],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: rows as Row[],
    getRowId: ({ id }: Row) => id,
  })
  const model = table.getRowModel().rows
  const virtualizer = useVirtualizer({
    count: model.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => model[index]?.id ?? index,
    overscan: 12,
    scrollMargin: rowHeight,
  })
  const items = virtualizer.getVirtualItems()

  const lastIndex = items.at(-1)?.index ?? 0
  const { hasMore, loadingMore, onMore } = props
  useEffect(() => {
    if (hasMore && !loadingMore && lastIndex >= model.length - 20 && model.length > 0) onMore?.()
  }, [hasMore, loadingMore, onMore, lastIndex, model.length])

  const walk = useRef<{ move: (step: number) => void; open: () => void; select: () => void }>(null)
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect?.(next)
  }
  walk.current = {
    move: (step) => {
      const from = rows.findIndex(({ id }) => id === active)
      const to =
        from < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, from + step))
      const row = rows[to]
      if (!row) return
      onActive?.(row)
      virtualizer.scrollToIndex(to)
    },
    open: () => {
      const row = rows.find(({ id }) => id === active)
      if (row) onOpen?.(row)
    },
    select: () => active && onSelect && toggle(active),
  }
  const walks = Boolean(onActive)
  const opens = Boolean(onOpen)
  const selects = Boolean(onSelect)
  useKeys(
    props.label,
    useMemo(() => {
      const always = [
        { keys: 'j', label: t('table.next'), run: () => walk.current?.move(1) },
        { keys: 'k', label: t('table.previous'), run: () => walk.current?.move(-1) },
      ]
      return [
        ...(walks ? always : []),
        ...(opens ? [{ keys: 'enter', label: t('table.open'), run: () => walk.current?.open() }] : []),
        ...(selects ? [{ keys: 'x', label: t('table.select'), run: () => walk.current?.select() }] : []),
      ]
    }, [t, walks, opens, selects]),
  )

  if (model.length === 0 && !props.loading) return <>{props.empty}</>
  const before = (items[0]?.start ?? rowHeight) - rowHeight
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? rowHeight) - rowHeight)
  return (
    <section className="data-table" ref={scroller} aria-label={props.label} data-outdated={props.outdated}>
      <table aria-rowcount={props.total ?? (hasMore ? -1 : model.length + 1)} aria-busy={props.loading}>
        <colgroup>
          {onSelect && <col style={{ width: 40 }} />}
          {shown.map(({ id, width, wide }) => (
            <col
              key={id}
              className={wide ? 'data-table-wide' : undefined}
              style={width ? { width } : undefined}
            />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {onSelect && (
              <th scope="col">
                <span className="visually-hidden">{t('table.select')}</span>
              </th>
            )}
            {shown.map(({ id, header, align, wide, quiet }) => (
              <th key={id} scope="col" data-align={align} className={wide ? 'data-table-wide' : undefined}>
                {quiet ? <span className="visually-hidden">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <Gap height={before} />
        <tbody>
          {items.map((item) => {
            const row = model[item.index]
            if (!row) return null
            return (
              <tr
                key={row.id}
                aria-rowindex={item.index + 2}
                aria-current={row.id === active ? 'true' : undefined}
                data-selected={selected.has(row.id) || undefined}
                data-clickable={onOpen || onActive ? true : undefined}
                onClick={(event) => {
                  if ((event.target as Element).closest('a, button, input, label')) return
                  if (onActive) onActive(row.original)
                  else onOpen?.(row.original)
                }}
                onDoubleClick={() => onOpen?.(row.original)}
              >
                {onSelect && (
                  <td>
                    <Checkbox
                      size="xs"
                      checked={selected.has(row.id)}
                      onChange={() => toggle(row.id)}
                      aria-label={t('select', { name: rowName(row.original) })}
                    />
                  </td>
                )}
                {row.getAllCells().map((cell, index) => (
                  <td
                    key={cell.id}
                    data-align={shown[index]?.align}
                    className={shown[index]?.wide ? 'data-table-wide' : undefined}
                  >
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
        <Gap height={after} />
      </table>
      <footer className="data-table-foot num">
        <span>
          {props.total != null
            ? t('loadedOf', { loaded: model.length, total: props.total })
            : t(hasMore ? 'loaded' : 'allLoaded', { count: model.length })}
        </span>
        {hasMore && (
          <Button
            variant="default"
            size="compact-xs"
            loading={loadingMore ?? false}
            onClick={() => onMore?.()}
          >
            {t('loadMore')}
          </Button>
        )}
      </footer>
    </section>
  )
}

/** Stands for the rows that are not in the document, so that the scroll bar tells the truth. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tbody>
      <tr>
        <td style={{ height, padding: 0, border: 0 }} />
      </tr>
    </tbody>
  )
}
