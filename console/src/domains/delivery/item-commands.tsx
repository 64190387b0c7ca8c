import { Button, Menu } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useCommand } from '../../data/outcome.ts'
import { type KeyBinding, useKeys } from '../../kit/keys.ts'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { morning } from '../../kit/time.ts'
import { useViewer } from '../../shell/viewer.ts'
import { permission } from '../runs/allowed.ts'
import { type InboxItem, PeopleQuery, UpdateInboxItem } from './inbox-query.ts'
import { inboxText } from './text.ts'

const hour = 3_600_000
type Opened = 'snooze' | 'assign' | undefined
type Change =
  | { action: 'ACKNOWLEDGE' | 'REOPEN' }
  | { action: 'SNOOZE'; snoozeUntil: string }
  | { action: 'ASSIGN'; assigneeId: string | null }

/** What can be done with an item besides answering it: seen, later, for somebody else. */
export function ItemCommands({ item, onDone }: { item: InboxItem; onDone: () => void }) {
  const t = inboxText.useText()
  const update = useCommand(UpdateInboxItem)
  const [opened, setOpened] = useState<Opened>()
  const allowed = (action: string) => permission(item.allowedActions, action).is === 'allowed'
  const may = allowed('updateInboxItem')
  // An open ask is settled by its answer only.
  const mayAcknowledge = allowed('updateInboxItem.ACKNOWLEDGE')
  const open = item.state === 'OPEN'
  const apply = async (change: Change) => {
    setOpened(undefined)
    const outcome = await update.run({ input: { itemId: item.id, expectedVersion: item.version, ...change } })
    if (outcome.ok && change.action !== 'ASSIGN') onDone()
  }
  const latest = useRef(apply)
  latest.current = apply
  useKeys(
    t('keys.title'),
    useMemo<KeyBinding[]>(
      () =>
        may && open
          ? [
              ...(mayAcknowledge
                ? [
                    {
                      keys: 'e',
                      label: t('keys.acknowledge'),
                      run: () => void latest.current({ action: 'ACKNOWLEDGE' }),
                    },
                  ]
                : []),
              { keys: 's', label: t('keys.snooze'), run: () => setOpened('snooze') },
              { keys: 'm', label: t('keys.assign'), run: () => setOpened('assign') },
            ]
          : [],
      [t, may, mayAcknowledge, open],
    ),
  )
  if (!may) return null
  if (!open)
    return (
      <div className="inbox-commands">
        {item.state === 'ACKNOWLEDGED' && (
          <Button
            variant="default"
            size="compact-sm"
            loading={update.busy}
            onClick={() => void apply({ action: 'REOPEN' })}
          >
            {t('pane.reopen')}
          </Button>
        )}
        <ProblemNotice problem={update.problem} />
      </div>
    )
  return (
    <div className="inbox-commands">
      {mayAcknowledge && (
        <Button
          variant="default"
          size="compact-sm"
          loading={update.busy}
          rightSection={<kbd>E</kbd>}
          onClick={() => void apply({ action: 'ACKNOWLEDGE' })}
        >
          {t('pane.acknowledge')}
        </Button>
      )}
      <Menu opened={opened === 'snooze'} onChange={(open) => setOpened(open ? 'snooze' : undefined)}>
        <Menu.Target>
          <Button variant="default" size="compact-sm" rightSection={<kbd>S</kbd>}>
            {t('pane.snooze')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <SnoozeItems
            deadline={item.deadline}
            onChoose={(until) => void apply({ action: 'SNOOZE', snoozeUntil: until })}
          />
        </Menu.Dropdown>
      </Menu>
      <Menu opened={opened === 'assign'} onChange={(open) => setOpened(open ? 'assign' : undefined)}>
        <Menu.Target>
          <Button variant="default" size="compact-sm" rightSection={<kbd>M</kbd>}>
            {t('pane.assign')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {opened === 'assign' && (
            <AssignItems onChoose={(assigneeId) => void apply({ action: 'ASSIGN', assigneeId })} />
          )}
        </Menu.Dropdown>
      </Menu>
      <ProblemNotice problem={update.problem} />
    </div>
  )
}

type SnoozeProps = { deadline: string | null; onChoose: (until: string) => void }

/** Nothing can be put off beyond its own deadline. */
function SnoozeItems({ deadline, onChoose }: SnoozeProps) {
  const t = inboxText.useText()
  const zone = shownTimeZone(usePreferences())
  const now = Date.now()
  const choices = [
    ['hour', now + hour],
    ['hours', now + 4 * hour],
    ['tomorrow', morning(now, zone, 'tomorrow')],
    ['week', morning(now, zone, 'monday')],
  ] as const
  const before = deadline === null ? Number.POSITIVE_INFINITY : Date.parse(deadline)
  const possible = choices.filter(([, until]) => until < before)
  return possible.map(([name, until]) => (
    <Menu.Item key={name} onClick={() => onChoose(new Date(until).toISOString())}>
      {t(`snooze.${name}`)}
    </Menu.Item>
  ))
}

/** People of the project; without the right to list them, still oneself and nobody. */
function AssignItems({ onChoose }: { onChoose: (principalId: string | null) => void }) {
  const t = inboxText.useText()
  const viewer = useViewer()
  const [{ data }] = useQuery({ query: PeopleQuery })
  const people = (data?.principals.nodes ?? []).filter(
    (person) => person.kind === 'PERSON' && person.disabledAt === null && person.id !== viewer.id,
  )
  return (
    <>
      <Menu.Item onClick={() => onChoose(viewer.id)}>{t('pane.toMe')}</Menu.Item>
      {people.map((person) => (
        <Menu.Item key={person.id} onClick={() => onChoose(person.id)}>
          {person.name}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item onClick={() => onChoose(null)}>{t('pane.nobody')}</Menu.Item>
    </>
  )
}
