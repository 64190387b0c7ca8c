import { Button, Group, Menu, Modal, Switch, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { graphql, ProblemFields, type ResultOf } from '../data/graphql.ts'
import { randomKey } from '../data/idempotency.ts'
import { useCommand } from '../data/outcome.ts'
import { copyText } from './copy-text.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { kitText } from './text.ts'
import './saved-views.css'

const SavedViewsQuery = graphql(`
  query SavedViews($projectId: ID!, $screen: String!) {
    savedViews(projectId: $projectId, screen: $screen) { id name shared state owner { id name } }
  }
`)
const SaveView = graphql(
  `
    mutation SaveView($input: SaveViewInput!) {
      saveView(input: $input) {
        __typename
        ... on SaveViewSuccess { view { id name shared state owner { id name } } deletedId }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
type View = ResultOf<typeof SavedViewsQuery>['savedViews'][number]
type Search = { readonly [key: string]: unknown }

const without = (search: Search): Search =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([key, value]) => key !== 'saved' && value !== undefined)
      .sort(([a], [b]) => a.localeCompare(b)),
  )
const same = (a: Search, b: Search): boolean => JSON.stringify(without(a)) === JSON.stringify(without(b))

type SavedViewsProps = {
  projectId: string
  /** Names the screen in the store, for example `sessions`. */
  screen: string
  /** The page's search parameters; `saved` is the id of the view they came from. */
  search: Search
  /** Writes the address; `replace` when a view fills it, so that Back does not return to the empty one. */
  onChange: (search: Search, replace: boolean) => void
}

/**
 * Named filters of a screen. The address is the truth: a view only fills an address that has nothing but
 * `saved=<id>`, which is also the link to share; what is changed afterwards is marked and stays in the address.
 */
export function SavedViews({ projectId, screen, search, onChange }: SavedViewsProps) {
  const t = kitText.useText()
  const [{ data }, refresh] = useQuery({ query: SavedViewsQuery, variables: { projectId, screen } })
  const save = useCommand(SaveView)
  const [naming, setNaming] = useState(false)
  const views = data?.savedViews ?? []
  const current = views.find(({ id }) => id === search.saved)
  const empty = Object.keys(without(search)).length === 0
  const changed = current && !same(current.state as Search, search)

  // Filled once on arrival: who then removes every filter wants none, not the view again.
  const filled = useRef<string>(null)
  useEffect(() => {
    if (!current || filled.current === current.id) return
    filled.current = current.id
    if (empty) onChange({ ...(current.state as Search), saved: current.id }, true)
  }, [current, empty, onChange])

  const store = async (input: { name: string; shared: boolean; viewId?: string; delete?: boolean }) => {
    const outcome = await save.run({
      input: { projectId, screen, state: without(search), idempotencyKey: randomKey(), ...input },
    })
    if (!outcome.ok) return
    refresh({ requestPolicy: 'network-only' })
    setNaming(false)
    if (outcome.value.view) onChange({ ...search, saved: outcome.value.view.id }, true)
    else onChange({ ...search, saved: undefined }, true)
  }
  const copyLink = async (view: View) => {
    const link = new URL(location.href)
    link.search = `?saved=${encodeURIComponent(view.id)}`
    await copyText(link.href)
    notifications.show({ message: t('views.linkCopied') })
  }
  return (
    <>
      <Menu width={280} position="bottom-end" withinPortal={false}>
        <Menu.Target>
          <Button variant="default" size="compact-sm">
            {current ? `${current.name}${changed ? ' *' : ''}` : t('views.title')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>{t('views.none')}</Menu.Label>}
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              rightSection={
                view.shared ? <span className="saved-views-mark">{t('views.sharedShort')}</span> : null
              }
              onClick={() => onChange({ ...(view.state as Search), saved: view.id }, false)}
            >
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {current && <Menu.Item onClick={() => void copyLink(current)}>{t('views.link')}</Menu.Item>}
          {current && changed && (
            <Menu.Item
              onClick={() => void store({ name: current.name, shared: current.shared, viewId: current.id })}
            >
              {t('views.update', { name: current.name })}
            </Menu.Item>
          )}
          <Menu.Item onClick={() => setNaming(true)}>{t('views.save')}</Menu.Item>
          {current && (
            <Menu.Item
              onClick={() =>
                void store({ name: current.name, shared: current.shared, viewId: current.id, delete: true })
              }
            >
              {t('views.remove', { name: current.name })}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {naming && (
        <NameDialog
          busy={save.busy}
          onClose={() => {
            save.clear()
            setNaming(false)
          }}
          onSave={(name, shared) => void store({ name, shared })}
        >
          <ProblemNotice problem={save.problem} />
        </NameDialog>
      )}
    </>
  )
}

type NameDialogProps = {
  busy: boolean
  onClose: () => void
  onSave: (name: string, shared: boolean) => void
  children: React.ReactNode
}

function NameDialog({ busy, onClose, onSave, children }: NameDialogProps) {
  const t = kitText.useText()
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  return (
    <Modal opened onClose={onClose} title={t('views.save')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim()) onSave(name.trim(), shared)
        }}
      >
        <TextInput
          label={t('views.name')}
          value={name}
          maxLength={120}
          data-autofocus
          required
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Switch
          label={t('views.shared')}
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={busy}>
            {t('save')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
