import { NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { permission } from '../runs/allowed.ts'
import { Fact } from '../runs/facts.tsx'
import { UpdateSettings } from './commands.ts'
import type { SessionView } from './session-query.ts'
import { sessionText } from './text.ts'

const levels = ['OFF', 'LOW', 'MEDIUM', 'HIGH'] as const
type Level = (typeof levels)[number]

/** Model and thinking of later turns; only shown where they can't be changed. */
export function SessionSettings({ session, onChanged }: { session: SessionView; onChanged: () => void }) {
  const t = sessionText.useText()
  const update = useCommand(UpdateSettings)
  const [model, setModel] = useState(session.model ?? '')
  useEffect(() => setModel(session.model ?? ''), [session.model])
  const may = permission(session.allowedActions, 'updateSessionSettings').is === 'allowed'
  const level = session.thinkingLevel
  const save = async (change: { model?: string | null; thinkingLevel?: Level | null }) => {
    const input = { sessionId: session.id, expectedGeneration: session.generation, ...change }
    if ((await update.run({ input })).ok) onChanged()
  }
  if (!may)
    return (
      <dl className="facts">
        <Fact label={t('aside.model')}>{session.model ?? t('aside.modelDefault')}</Fact>
        <Fact label={t('aside.thinking')}>{level ? t(`aside.level.${level}`) : t('aside.levelDefault')}</Fact>
      </dl>
    )
  const keep = () => {
    const next = model.trim()
    if (next !== (session.model ?? '')) void save({ model: next === '' ? null : next })
  }
  return (
    <div className="aside-settings">
      <TextInput
        size="xs"
        label={t('aside.model')}
        placeholder={t('aside.modelDefault')}
        value={model}
        maxLength={120}
        error={issueOf(update.problem, 'model')}
        onChange={(event) => setModel(event.currentTarget.value)}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
      />
      <NativeSelect
        size="xs"
        label={t('aside.thinking')}
        value={level ?? ''}
        disabled={update.busy}
        onChange={(event) => {
          const chosen = levels.find((each) => each === event.currentTarget.value)
          void save({ thinkingLevel: chosen ?? null })
        }}
        data={[
          { value: '', label: t('aside.levelDefault') },
          ...levels.map((each) => ({ value: each, label: t(`aside.level.${each}`) })),
        ]}
      />
      <small className="mute">{t('aside.laterTurns')}</small>
      <ProblemNotice problem={update.problem} />
    </div>
  )
}
