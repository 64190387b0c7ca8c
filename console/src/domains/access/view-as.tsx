import { Checkbox, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useQuery } from 'urql'
import { usePreferences } from '../../kit/preferences.ts'
import { AppPending } from '../../shell/pending.tsx'
import { Capabilities, type GrantRow, type PrincipalRow } from './access-queries.ts'
import { inWords } from './capability-words.ts'
import { liveGrants, useScopeWords } from './grant-words.ts'
import type { AccessSearch } from './search.ts'
import { accessText } from './text.ts'

type ViewAsProps = {
  principals: readonly PrincipalRow[]
  search: AccessSearch
  onChange: (search: AccessSearch, replace?: boolean) => void
}

/** What the record grants a principal, and to what a token narrows it; the two facts beside one another. */
export function ViewAs({ principals, search, onChange }: ViewAsProps) {
  const t = accessText.useText()
  const { language } = usePreferences()
  const scope = useScopeWords()
  const [onlyHeld, setOnlyHeld] = useState(true)
  const [{ data }] = useQuery({ query: Capabilities })
  const principal = principals.find(({ id }) => id === search.principal) ?? principals[0]
  const token = principal?.tokens.find(({ id }) => id === search.token)
  if (!data || !principal) return <AppPending />

  const where = (grants: readonly GrantRow[], capability: string): string =>
    [
      ...new Set(
        liveGrants(grants)
          .filter(
            ({ capabilities }) => capabilities.includes(capability) || capabilities.includes('project.own'),
          )
          .map(scope),
      ),
    ].join(', ')
  const rows = data.capabilities.map((capability) => ({
    ...inWords(capability, language),
    own: where(principal.grants, capability.name),
    narrowed: token ? where(token.grants, capability.name) : '',
  }))
  const shown = onlyHeld ? rows.filter(({ own, narrowed }) => own && (!token || narrowed)) : rows
  return (
    <div className="matrix">
      <div className="matrix-head">
        <p>{t('access.viewAs.lead')}</p>
        <NativeSelect
          size="xs"
          label={t('access.viewAs.choose')}
          value={token ? `${principal.id} ${token.id}` : principal.id}
          onChange={(event) => {
            const [principalId, tokenId] = event.currentTarget.value.split(' ')
            onChange({ ...search, principal: principalId, token: tokenId }, true)
          }}
        >
          {principals.map((each) => (
            <optgroup key={each.id} label={each.name}>
              <option value={each.id}>{each.name}</option>
              {each.tokens.map(({ id, name }) => (
                <option key={id} value={`${each.id} ${id}`}>
                  {each.name} / {name}
                </option>
              ))}
            </optgroup>
          ))}
        </NativeSelect>
        <Checkbox
          size="xs"
          label={t('access.viewAs.onlyHeld')}
          checked={onlyHeld}
          onChange={(event) => setOnlyHeld(event.currentTarget.checked)}
        />
        <span className="mute num">
          {shown.length} / {rows.length}
        </span>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('access.capabilities')}</th>
            <th scope="col">{t('access.viewAs.own', { name: principal.name })}</th>
            {token && <th scope="col">{t('access.viewAs.token')}</th>}
            <th scope="col" className="matrix-wide">
              {t('access.description')}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, description, own, narrowed }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                {own ? (
                  <span className="held">{own}</span>
                ) : (
                  <span className="mute">{t('access.viewAs.nothing')}</span>
                )}
              </td>
              {token && (
                <td>
                  {narrowed ? (
                    <span className="held">{narrowed}</span>
                  ) : (
                    <span className="mute">{t('access.viewAs.nothing')}</span>
                  )}
                </td>
              )}
              <td className="mute matrix-wide">{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
