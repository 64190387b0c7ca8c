import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useQuery } from 'urql'
import { usePreferences } from '../../kit/preferences.ts'
import { useViewer } from '../../shell/viewer.ts'
import { Capabilities, GrantableProjects } from './access-queries.ts'
import { inWords } from './capability-words.ts'
import { accessText } from './text.ts'

export type GrantDraft = { projectId: string | null; capabilities: readonly string[] }

/** Starting points; the server checks that nobody gives more than he has. */
const presets = {
  presetReader: ['project.read', 'session.read', 'event.read', 'session.export'],
  presetIntegrator: [
    'project.read',
    'session.read',
    'session.create',
    'session.open',
    'event.read',
    'turn.submit',
    'turn.steer',
    'turn.cancel',
    'approval.resolve',
    'session.export',
  ],
  presetRuntime: ['project.read', 'session.read', 'event.read', 'runtime.register', 'run.execute'],
  presetOwner: ['project.own'],
} as const

type CapabilityPickerProps = {
  draft: GrantDraft
  onChange: (draft: GrantDraft) => void
  error?: string | undefined
}

/** Where a grant holds and what it gives; only what can be given there is offered. */
export function CapabilityPicker({ draft, onChange, error }: CapabilityPickerProps) {
  const t = accessText.useText()
  const viewer = useViewer()
  const { language } = usePreferences()
  const [{ data }] = useQuery({ query: Capabilities })
  const [{ data: list }] = useQuery({ query: GrantableProjects })
  const [filter, setFilter] = useState('')
  const chosen = new Set(draft.capabilities)
  const scope = draft.projectId ? 'PROJECT' : 'ALL'
  const offered = (data?.capabilities ?? [])
    .filter(({ scopes }) => scopes.includes(scope))
    .map((row) => inWords(row, language))
  const shown = offered.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(filter.toLowerCase()),
  )
  const set = (names: readonly string[]) =>
    onChange({ ...draft, capabilities: names.filter((name) => offered.some((each) => each.name === name)) })
  const toggle = (name: string) =>
    set(chosen.has(name) ? draft.capabilities.filter((each) => each !== name) : [...draft.capabilities, name])
  return (
    <>
      <NativeSelect
        label={t('access.where')}
        value={draft.projectId ?? ''}
        onChange={(event) => onChange({ ...draft, projectId: event.currentTarget.value || null })}
      >
        <option value="">{t('access.scopeAll')}</option>
        {list?.projects.nodes.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </NativeSelect>
      <fieldset className="picker">
        <legend>{t('access.give')}</legend>
        <div className="picker-presets">
          {t('access.presets')}
          {(Object.keys(presets) as (keyof typeof presets)[]).map((preset) => (
            <Button
              key={preset}
              variant="default"
              size="compact-xs"
              disabled={!data}
              onClick={() => set(presets[preset])}
            >
              {t(`access.${preset}`)}
            </Button>
          ))}
          <Button
            variant="default"
            size="compact-xs"
            disabled={!data}
            onClick={() => set(viewer.capabilities)}
          >
            {t('access.presetOwn')}
          </Button>
        </div>
        <TextInput
          size="xs"
          type="search"
          aria-label={t('access.filter')}
          placeholder={t('access.filter')}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <div className="picker-list">
          {shown.map(({ name, description }) => (
            <label key={name}>
              <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
              <code>{name}</code>
              <span>{description}</span>
            </label>
          ))}
        </div>
        <small className="mute num">
          {t('access.chosen', { count: chosen.size, total: offered.length })}
        </small>
        {error && <p role="alert">{error}</p>}
      </fieldset>
    </>
  )
}
