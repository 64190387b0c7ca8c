import { Button, Menu, NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import { FilterChip } from '../../kit/filter-chip.tsx'
import { useKeys } from '../../kit/keys.ts'
import { runText } from '../runs/text.ts'
import type { SessionsSearch } from './search.ts'
import { runStates, windows } from './sessions-filter.ts'
import { sessionText } from './text.ts'

type FiltersProps = {
  search: SessionsSearch
  onSearch: (change: Partial<SessionsSearch>, replace?: boolean) => void
}

/** How long typing rests before the list is asked, in milliseconds. */
const typingRestMs = 250

/** The filters of the list; each one in force is a chip, so that none is invisible. */
export function SessionsFilters({ search, onSearch }: FiltersProps) {
  const t = sessionText.useText()
  const run = runText.useText()
  const runs = search.runs ?? []
  const toggleRun = (state: string) => {
    const next = runs.includes(state) ? runs.filter((each) => each !== state) : [...runs, state]
    onSearch({ runs: next.length === 0 ? undefined : next })
  }
  const within = (hours: number) =>
    hours < 48 ? t('list.hours', { count: hours }) : t('list.days', { count: hours / 24 })
  return (
    <div className="sessions-filters">
      <SearchField search={search} onSearch={onSearch} />
      <Menu closeOnItemClick={false} width={240}>
        <Menu.Target>
          <Button size="compact-sm" variant="default">
            {t('list.filters')} ▾
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['OPEN', 'CLOSED'] as const).map((state) => (
            <Choice
              key={state}
              label={t(`list.${state}`)}
              on={search.state === state}
              onClick={() => onSearch({ state: search.state === state ? undefined : state })}
            />
          ))}
          <Choice
            label={t('list.waiting')}
            on={search.waiting === true}
            onClick={() => onSearch({ waiting: search.waiting ? undefined : true })}
          />
          <Menu.Divider />
          <Menu.Label>{t('list.runStates')}</Menu.Label>
          {runStates.map((state) => (
            <Choice
              key={state}
              label={run(`state.${state}`)}
              on={runs.includes(state)}
              onClick={() => toggleRun(state)}
            />
          ))}
          <Menu.Divider />
          <Menu.Label>{t('list.within')}</Menu.Label>
          {windows.map((hours) => (
            <Choice
              key={hours}
              label={within(hours)}
              on={search.within === hours}
              onClick={() => onSearch({ within: search.within === hours ? undefined : hours })}
            />
          ))}
        </Menu.Dropdown>
      </Menu>
      <ModelField search={search} onSearch={onSearch} />
      {search.state && (
        <FilterChip label={t(`list.${search.state}`)} onRemove={() => onSearch({ state: undefined })} />
      )}
      {search.waiting && (
        <FilterChip label={t('list.waiting')} onRemove={() => onSearch({ waiting: undefined })} />
      )}
      {runs.map((state) => (
        <FilterChip
          key={state}
          label={runText.find(`state.${state}`) ?? state}
          onRemove={() => toggleRun(state)}
        />
      ))}
      {search.within !== undefined && (
        <FilterChip
          label={`${t('list.within')} ${within(search.within)}`}
          onRemove={() => onSearch({ within: undefined })}
        />
      )}
      <span className="grow" />
      <NativeSelect
        size="xs"
        aria-label={t('list.order')}
        value={search.order ?? 'LAST_ACTIVITY_DESC'}
        onChange={(event) => {
          const order = event.currentTarget.value
          onSearch({
            order: order === 'LAST_ACTIVITY_DESC' ? undefined : (order as SessionsSearch['order']),
          })
        }}
        data={(['LAST_ACTIVITY_DESC', 'LAST_ACTIVITY_ASC', 'CREATED_DESC', 'CREATED_ASC'] as const).map(
          (order) => ({ value: order, label: t(`list.${order}`) }),
        )}
      />
    </div>
  )
}

function Choice({ label, on, onClick }: { label: string; on: boolean; onClick: () => void }) {
  return (
    <Menu.CheckboxItem checked={on} onChange={onClick}>
      {label}
    </Menu.CheckboxItem>
  )
}

/** Keeps what is typed and tells the address once typing rests. */
function useRested(value: string | undefined, onRest: (value: string | undefined) => void) {
  const [text, setText] = useState(value ?? '')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onRest(next.trim() === '' ? undefined : next.trim()), typingRestMs)
  }
  return [text, change] as const
}

function SearchField({ search, onSearch }: FiltersProps) {
  const t = sessionText.useText()
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useRested(search.q, (q) => onSearch({ q }))
  const transcripts = search.in === 'transcripts'
  useKeys(
    t('list.keys'),
    useMemo(() => [{ keys: '/', label: t('list.search'), run: () => field.current?.focus() }], [t]),
  )
  return (
    <div className="sessions-search">
      <TextInput
        ref={field}
        size="xs"
        type="search"
        aria-label={transcripts ? t('list.searchTranscripts') : t('list.search')}
        placeholder={transcripts ? t('list.searchTranscripts') : t('list.search')}
        rightSection={<kbd>/</kbd>}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <NativeSelect
        size="xs"
        aria-label={t('list.where')}
        value={transcripts ? 'transcripts' : 'titles'}
        onChange={(event) =>
          onSearch({ in: event.currentTarget.value === 'transcripts' ? 'transcripts' : undefined })
        }
        data={[
          { value: 'titles', label: t('list.whereTitles') },
          { value: 'transcripts', label: t('list.whereTranscripts') },
        ]}
      />
    </div>
  )
}

function ModelField({ search, onSearch }: FiltersProps) {
  const t = sessionText.useText()
  const [text, setText] = useRested(search.model, (model) => onSearch({ model }))
  return (
    <TextInput
      className="sessions-model"
      size="xs"
      aria-label={t('list.model')}
      placeholder={t('list.model')}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  )
}
