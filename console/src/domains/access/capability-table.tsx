import { TextInput } from '@mantine/core'
import { useQuery } from 'urql'
import { problemOf } from '../../data/outcome.ts'
import { FailedState, FilteredEmpty } from '../../kit/empty-state.tsx'
import { usePreferences } from '../../kit/preferences.ts'
import { AppPending } from '../../shell/pending.tsx'
import { Capabilities } from './access-queries.ts'
import { inWords } from './capability-words.ts'
import type { AccessSearch } from './search.ts'
import { accessText } from './text.ts'

type CapabilityTableProps = {
  search: AccessSearch
  onChange: (search: AccessSearch, replace?: boolean) => void
}

/** The one complete table, as the server enforces it. */
export function CapabilityTable({ search, onChange }: CapabilityTableProps) {
  const t = accessText.useText()
  const { language } = usePreferences()
  const [{ data, error }, refresh] = useQuery({ query: Capabilities })
  if (!data)
    return error ? <FailedState problem={problemOf(error)} onRetry={() => refresh()} /> : <AppPending />
  const wanted = (search.filter ?? '').toLowerCase()
  const all = data.capabilities.map((row) => inWords(row, language))
  const shown = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  return (
    <div className="matrix">
      <div className="matrix-head">
        <TextInput
          size="xs"
          type="search"
          aria-label={t('access.filter')}
          placeholder={t('access.filter')}
          w={260}
          value={search.filter ?? ''}
          onChange={(event) => onChange({ ...search, filter: event.currentTarget.value || undefined }, true)}
        />
        <span className="mute num">
          {shown.length} / {all.length}
        </span>
      </div>
      {shown.length === 0 && (
        <FilteredEmpty hidden={all.length} onClear={() => onChange({ ...search, filter: undefined }, true)} />
      )}
      {shown.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{t('access.capabilities')}</th>
              <th scope="col">{t('access.description')}</th>
              <th scope="col" className="matrix-wide">
                {t('access.readsOrWrites')}
              </th>
              <th scope="col" className="matrix-wide">
                {t('access.scopes')}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, description, writes, scopes }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{description}</td>
                <td className="mute matrix-wide">{t(writes ? 'access.writes' : 'access.reads')}</td>
                <td className="mute matrix-wide">
                  {scopes.map((scope) => t(`access.scopeNames.${scope}`)).join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
