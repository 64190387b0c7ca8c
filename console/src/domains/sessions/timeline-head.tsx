import { Button, Menu } from '@mantine/core'
import { memo, useMemo, useRef, useState } from 'react'
import { FilterChip } from '../../kit/filter-chip.tsx'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { groupNames } from './event-groups.ts'
import type { SessionSearch } from './search.ts'
import type { SessionJournal } from './session-journal.ts'
import { sessionText } from './text.ts'

type TimelineHeadProps = {
  journal: SessionJournal
  search: SessionSearch
  onSearch: (change: Partial<SessionSearch>, replace?: boolean) => void
  paused: boolean
  catchingUp: boolean
  /** The number of the run that the timeline is limited to, once it is known. */
  runNumber: number | null | undefined
}

/** View, filters and pause of the timeline. */
export const TimelineHead = memo(function TimelineHead(props: TimelineHeadProps) {
  const { journal, search, onSearch, runNumber } = props
  const t = sessionText.useText()
  const [menu, setMenu] = useState(false)
  const types = search.types ?? []
  const isPaused = props.paused
  const full = search.view === 'full'
  const latest = useRef({ isPaused, full })
  latest.current = { isPaused, full }
  const bindings = useMemo<KeyBinding[]>(
    () => [
      {
        keys: 'v',
        label: t('keys.view'),
        run: () => onSearch({ view: latest.current.full ? undefined : 'full' }),
      },
      {
        keys: 'p',
        label: t('keys.pause'),
        run: () => (latest.current.isPaused ? journal.goOn() : journal.pause()),
      },
      { keys: '/', label: t('keys.filter'), run: () => setMenu(true) },
    ],
    [t, onSearch, journal],
  )
  useKeys(t('keys.session'), bindings)
  const toggle = (group: string) => {
    const next = types.includes(group) ? types.filter((each) => each !== group) : [...types, group]
    onSearch({ types: next.length === 0 ? undefined : next })
  }
  return (
    <div className="session-column-head">
      <h2>{t('timeline.title')}</h2>
      <fieldset className="tl-view" aria-label={t('timeline.view')}>
        {(['compact', 'full'] as const).map((view) => (
          <button
            key={view}
            type="button"
            aria-pressed={full === (view === 'full')}
            onClick={() => onSearch({ view: view === 'full' ? 'full' : undefined })}
          >
            {t(`timeline.${view}`)}
          </button>
        ))}
      </fieldset>
      {props.catchingUp && <span className="mute">{t('tail.replaying')}</span>}
      <span className="grow" />
      {search.run !== undefined && (
        <FilterChip
          label={runNumber == null ? t('timeline.onlyOneRun') : t('timeline.onlyRun', { number: runNumber })}
          onRemove={() => onSearch({ run: undefined })}
        />
      )}
      {types.map((group) => (
        <FilterChip
          key={group}
          label={sessionText.find(`group.${group}`) ?? group}
          onRemove={() => toggle(group)}
        />
      ))}
      <Menu opened={menu} onChange={setMenu} closeOnItemClick={false} position="bottom-end" width={220}>
        <Menu.Target>
          <Button variant="default" size="compact-xs" title={t('timeline.types')}>
            {types.length === 0 ? t('timeline.allTypes') : t('timeline.someTypes', { count: types.length })}
            <span aria-hidden="true">&nbsp;▾</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {groupNames.map((group) => (
            <Menu.CheckboxItem key={group} checked={types.includes(group)} onChange={() => toggle(group)}>
              {t(`group.${group}`)}
            </Menu.CheckboxItem>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="default"
        size="compact-xs"
        aria-pressed={isPaused}
        onClick={() => (isPaused ? journal.goOn() : journal.pause())}
      >
        {isPaused ? t('timeline.goOn') : t('timeline.pause')}
      </Button>
    </div>
  )
})
