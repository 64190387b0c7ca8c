import { Button, NativeSelect, Popover, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useQuery } from 'urql'
import { FilterChip } from '../../kit/filter-chip.tsx'
import { useKeys } from '../../kit/keys.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { isoOfLocal } from '../../kit/time.ts'
import { timeText } from '../../kit/timestamp.tsx'
import { RoutedUnder, SessionTitle } from './queries.ts'
import { type RoutingSearch, routeChoices } from './search.ts'
import { routingText } from './text.ts'
import { warningWords } from './words.ts'

type RoutingFiltersProps = {
  projectId: string
  search: RoutingSearch
  onChange: (change: RoutingSearch) => void
}

/** The filters in force as chips, and the form that adds to them. */
export function RoutingFilters({ projectId, search, onChange }: RoutingFiltersProps) {
  const t = routingText.useText()
  const [opened, setOpened] = useState(false)
  const [{ data }] = useQuery({
    query: SessionTitle,
    variables: { id: search.session ?? '' },
    pause: !search.session,
  })
  useKeys(
    t('title'),
    useMemo(() => [{ keys: '/', label: t('addFilter'), run: () => setOpened(true) }], [t]),
  )
  const { relations, sources, warnings, protocol, session, from, to } = search
  const list = (names: readonly string[]) => names.join(', ')
  return (
    <>
      {relations && (
        <FilterChip
          label={t('filter.relation', { name: list(relations.map((each) => t(`relations.${each}`))) })}
          onRemove={() => onChange({ relations: undefined })}
        />
      )}
      {protocol && (
        <FilterChip
          label={t('filter.protocol', { name: protocol })}
          onRemove={() => onChange({ protocol: undefined })}
        />
      )}
      {sources && (
        <FilterChip
          label={t('filter.source', { name: list(sources.map((each) => t(`sources.${each}`))) })}
          onRemove={() => onChange({ sources: undefined })}
        />
      )}
      {warnings && (
        <FilterChip
          label={t('filter.warning', { name: list(warnings.map(warningWords)) })}
          onRemove={() => onChange({ warnings: undefined })}
        />
      )}
      {session && (
        <FilterChip
          label={t('filter.session', {
            name: data?.session?.title ?? `…${session.replace(/=+$/, '').slice(-8)}`,
          })}
          onRemove={() => onChange({ session: undefined })}
        />
      )}
      {from && (
        <FilterChip
          label={t('filter.from', { time: timeText(from) })}
          onRemove={() => onChange({ from: undefined })}
        />
      )}
      {to && (
        <FilterChip
          label={t('filter.to', { time: timeText(to) })}
          onRemove={() => onChange({ to: undefined })}
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
            {t('addFilter')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('addFilter')}>
          <FilterForm
            projectId={projectId}
            search={search}
            onApply={(change) => {
              setOpened(false)
              onChange(change)
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

type FilterFormProps = {
  projectId: string
  search: RoutingSearch
  onApply: (change: RoutingSearch) => void
}

/** A choice of nothing leaves the filter as it is; one that is made joins those of its kind. */
function added<Choice extends string>(
  before: readonly Choice[] | undefined,
  choices: readonly Choice[],
  chosen: string,
): Choice[] | undefined {
  const choice = choices.find((each) => each === chosen)
  return choice ? [...new Set([...(before ?? []), choice])] : before && [...before]
}

function FilterForm({ projectId, search, onApply }: FilterFormProps) {
  const t = routingText.useText()
  const zone = shownTimeZone(usePreferences())
  const [{ data }] = useQuery({ query: RoutedUnder, variables: { projectId } })
  const [relation, setRelation] = useState('')
  const [source, setSource] = useState('')
  const [warning, setWarning] = useState('')
  const [protocol, setProtocol] = useState(search.protocol ?? '')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const { relations, sources, warnings } = routeChoices
  const apply = () =>
    onApply({
      relations: added(search.relations, relations, relation),
      sources: added(search.sources, sources, source),
      warnings: added(search.warnings, warnings, warning),
      protocol: protocol || undefined,
      from: isoOfLocal(from, zone) ?? search.from,
      to: isoOfLocal(to, zone) ?? search.to,
      decision: undefined,
    })
  return (
    <form
      className="routing-form"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Choice label={t('relation')} value={relation} onChange={setRelation}>
        {relations.map((each) => ({ value: each, label: t(`relations.${each}`) }))}
      </Choice>
      <Choice label={t('protocol')} value={protocol} onChange={setProtocol}>
        {(data?.protocols ?? [])
          .filter(({ latest }) => latest)
          .map(({ protocolId, title }) => ({ value: protocolId, label: title }))}
      </Choice>
      <Choice label={t('source')} value={source} onChange={setSource}>
        {sources.map((each) => ({ value: each, label: t(`sources.${each}`) }))}
      </Choice>
      <Choice label={t('warnings')} value={warning} onChange={setWarning}>
        {warnings.map((each) => ({ value: each, label: warningWords(each) }))}
      </Choice>
      <TextInput
        size="xs"
        type="datetime-local"
        label={t('from')}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        type="datetime-local"
        label={t('to')}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit">{t('apply')}</Button>
    </form>
  )
}

type ChoiceProps = {
  label: string
  value: string
  onChange: (value: string) => void
  children: readonly { value: string; label: string }[]
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  const t = routingText.useText()
  return (
    <NativeSelect
      size="xs"
      label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[{ value: '', label: t('any') }, ...children]}
    />
  )
}
