import { Button, NativeSelect, Popover, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useQuery } from 'urql'
import { FilterChip } from '../../kit/filter-chip.tsx'
import { useKeys } from '../../kit/keys.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { isoOfLocal } from '../../kit/time.ts'
import { timeText } from '../../kit/timestamp.tsx'
import { AuditActors } from './audit-queries.ts'
import type { AuditSearch } from './search.ts'
import { accessText } from './text.ts'

const channels = ['CONSOLE', 'API', 'AGENT', 'SYSTEM'] as const
type Channel = (typeof channels)[number]

type AuditFilterBarProps = { search: AuditSearch; onChange: (search: AuditSearch) => void }

/** The filters in force as chips, and the form that adds one. */
export function AuditFilterBar({ search, onChange }: AuditFilterBarProps) {
  const t = accessText.useText()
  const [{ data }] = useQuery({ query: AuditActors })
  const [opened, setOpened] = useState(false)
  const actors = data?.principals.nodes ?? []
  const { actor, actions, subject, channels: shown, from, to } = search
  const [keys] = useState(() => [{ keys: '/', label: t('audit.addFilter'), run: () => setOpened(true) }])
  useKeys(t('audit.title'), keys)
  return (
    <>
      {actor && (
        <FilterChip
          label={t('audit.filterActor', {
            name: actors.find(({ id }) => id === actor)?.name ?? actor.slice(-8),
          })}
          onRemove={() => onChange({ ...search, actor: undefined })}
        />
      )}
      {actions?.map((action) => (
        <FilterChip
          key={action}
          label={t('audit.filterAction', { name: action })}
          onRemove={() => {
            const rest = actions.filter((each) => each !== action)
            onChange({ ...search, actions: rest.length > 0 ? rest : undefined })
          }}
        />
      ))}
      {subject && (
        <FilterChip
          label={t('audit.filterSubject', { name: `…${subject.replace(/=+$/, '').slice(-8)}` })}
          onRemove={() => onChange({ ...search, subject: undefined })}
        />
      )}
      {shown && (
        <FilterChip
          label={t('audit.filterChannel', {
            name: shown.map((each) => t(`audit.channels.${each}`)).join(', '),
          })}
          onRemove={() => onChange({ ...search, channels: undefined })}
        />
      )}
      {from && (
        <FilterChip
          label={t('audit.filterFrom', { time: timeText(from) })}
          onRemove={() => onChange({ ...search, from: undefined })}
        />
      )}
      {to && (
        <FilterChip
          label={t('audit.filterTo', { time: timeText(to) })}
          onRemove={() => onChange({ ...search, to: undefined })}
        />
      )}
      <Popover
        opened={opened}
        onChange={setOpened}
        width={300}
        position="bottom-start"
        shadow="md"
        trapFocus
        withinPortal={false}
      >
        <Popover.Target>
          <Button variant="default" size="compact-sm" onClick={() => setOpened(!opened)}>
            {t('audit.addFilter')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('audit.addFilter')}>
          <FilterForm
            actors={actors}
            search={search}
            onApply={(next) => {
              setOpened(false)
              onChange(next)
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

type FilterFormProps = {
  actors: readonly { id: string; name: string }[]
  search: AuditSearch
  onApply: (search: AuditSearch) => void
}

function FilterForm({ actors, search, onApply }: FilterFormProps) {
  const t = accessText.useText()
  const [actor, setActor] = useState(search.actor ?? '')
  const [action, setAction] = useState('')
  const [channel, setChannel] = useState<Channel | ''>(search.channels?.[0] ?? '')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const zone = shownTimeZone(usePreferences())
  const apply = () =>
    onApply({
      ...search,
      entry: undefined,
      actor: actor || undefined,
      actions: action.trim() ? [...new Set([...(search.actions ?? []), action.trim()])] : search.actions,
      channels: channel ? [channel] : undefined,
      from: isoOfLocal(from, zone) ?? search.from,
      to: isoOfLocal(to, zone) ?? search.to,
    })
  return (
    <form
      className="audit-form"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <NativeSelect
        size="xs"
        label={t('audit.actor')}
        value={actor}
        onChange={(event) => setActor(event.currentTarget.value)}
      >
        <option value="" />
        {actors.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </NativeSelect>
      <TextInput
        size="xs"
        label={t('audit.anyAction')}
        value={action}
        onChange={(event) => setAction(event.currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label={t('audit.channel')}
        value={channel}
        onChange={(event) => setChannel(event.currentTarget.value as Channel | '')}
      >
        <option value="" />
        {channels.map((each) => (
          <option key={each} value={each}>
            {t(`audit.channels.${each}`)}
          </option>
        ))}
      </NativeSelect>
      <TextInput
        size="xs"
        type="datetime-local"
        label={t('audit.from')}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        type="datetime-local"
        label={t('audit.to')}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit">{t('audit.apply')}</Button>
    </form>
  )
}
