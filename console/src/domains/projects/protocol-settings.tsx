import { Button, Checkbox, Radio } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useCommand } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import type { SettingsProps } from './general-settings.tsx'
import { SettingsProtocols, UpdateProject } from './queries.ts'
import { projectsText } from './text.ts'

const corrections = ['AGENT', 'OWNER_CONFIRMS', 'OFF'] as const
/** Allowed whatever a project says. */
const general = 'general-task'

/** What agents may work under, and who may undo a route that was wrong. */
export function ProtocolSettings({ project, onConflict }: SettingsProps) {
  const t = projectsText.useText()
  const update = useCommand(UpdateProject)
  // Absent: all, also those that come later.
  const [chosen, setChosen] = useState<readonly string[] | null>(project.allowedProtocols)
  const [correction, setCorrection] = useState(project.routeCorrection)
  const { allowed } = actionOf(project.allowedActions, 'updateProject')

  const save = async () => {
    const outcome = await update.run({
      input: {
        projectId: project.id,
        // An empty list would allow all.
        allowedProtocols: chosen === null ? [] : [...new Set([general, ...chosen])],
        routeCorrection: correction,
        expectedVersion: project.version,
      },
    })
    if (outcome.ok) notifications.show({ message: t('settings.saved') })
    else if (outcome.problem.code === 'CONFLICT') onConflict()
  }
  return (
    <section>
      <h2>{t('settings.protocols.title')}</h2>
      {!allowed && <p className="mute">{t('settings.readOnly')}</p>}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Radio.Group
          label={t('settings.protocols.which')}
          value={chosen === null ? 'all' : 'some'}
          onChange={(next) => setChosen(next === 'all' ? null : (project.allowedProtocols ?? [general]))}
        >
          <div className="settings-choices">
            <Radio size="xs" value="all" disabled={!allowed} label={t('settings.protocols.all')} />
            <Radio size="xs" value="some" disabled={!allowed} label={t('settings.protocols.some')} />
          </div>
        </Radio.Group>
        {chosen !== null && (
          <ProtocolChoice projectId={project.id} chosen={chosen} disabled={!allowed} onChange={setChosen} />
        )}
        <Radio.Group
          label={t('settings.protocols.correction')}
          description={t('settings.protocols.correctionHint')}
          value={correction}
          onChange={(next) => setCorrection(corrections.find((each) => each === next) ?? correction)}
        >
          <div className="settings-choices">
            {corrections.map((each) => (
              <Radio
                key={each}
                size="xs"
                value={each}
                disabled={!allowed}
                label={t(`settings.protocols.corrections.${each}.label`)}
                description={t(`settings.protocols.corrections.${each}.hint`)}
              />
            ))}
          </div>
        </Radio.Group>
        <ProblemNotice problem={update.problem} />
        <div className="row">
          {allowed && (
            <Button type="submit" loading={update.busy}>
              {t('settings.save')}
            </Button>
          )}
          <Link className="link" to="/p/$slug/protocols" params={{ slug: project.slug }}>
            {t('settings.protocols.open')}
          </Link>
        </div>
      </form>
    </section>
  )
}

type ProtocolChoiceProps = {
  projectId: string
  chosen: readonly string[]
  disabled: boolean
  onChange: (chosen: string[]) => void
}

/** Each protocol by its newest version, and what is allowed before it is registered. */
function ProtocolChoice({ projectId, chosen, disabled, onChange }: ProtocolChoiceProps) {
  const t = projectsText.useText()
  const [{ data }] = useQuery({
    query: SettingsProtocols,
    variables: { projectId },
    requestPolicy: 'cache-and-network',
  })
  const [first] = useState(chosen)
  const registered = (data?.protocols ?? []).filter(({ latest }) => latest)
  const missing = data
    ? first.filter((id) => id !== general && registered.every(({ protocolId }) => protocolId !== id))
    : []
  const rows = [
    ...registered.map(({ protocolId, title }) => ({
      id: protocolId,
      title,
      note: protocolId === general ? t('settings.protocols.always') : null,
    })),
    ...missing.map((id) => ({ id, title: id, note: t('settings.protocols.missing') })),
  ]
  return (
    <fieldset className="settings-list" aria-label={t('settings.protocols.list')}>
      {rows.map(({ id, title, note }) => (
        <Checkbox
          key={id}
          size="xs"
          disabled={disabled || id === general}
          checked={id === general || chosen.includes(id)}
          label={
            <>
              {title} {title !== id && <code className="mute">{id}</code>}
              {note && <span className="mute"> · {note}</span>}
            </>
          }
          onChange={(event) =>
            onChange(event.currentTarget.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
          }
        />
      ))}
    </fieldset>
  )
}
