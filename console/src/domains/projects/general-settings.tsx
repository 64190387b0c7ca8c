import { Button, NativeSelect, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ResultOf } from '../../data/graphql.ts'
import { useCommand } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { setPreferences } from '../../kit/preferences.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { type ProjectSettings, UpdateProject } from './queries.ts'
import { projectsText } from './text.ts'

export type SettingsProject = NonNullable<ResultOf<typeof ProjectSettings>['project']>
const levels = ['OFF', 'LOW', 'MEDIUM', 'HIGH'] as const
type Level = (typeof levels)[number]

export type SettingsProps = {
  project: SettingsProject
  /** Somebody else was faster: the present version is read, what was typed stays. */
  onConflict: () => void
}

export function GeneralSettings({ project, onConflict }: SettingsProps) {
  const t = projectsText.useText()
  const navigate = useNavigate()
  const update = useCommand(UpdateProject)
  const [name, setName] = useState(project.name)
  const [slug, setSlug] = useState(project.slug)
  const [model, setModel] = useState(project.defaultModel ?? '')
  const [level, setLevel] = useState<Level | ''>(project.defaultThinkingLevel ?? '')
  const { allowed } = actionOf(project.allowedActions, 'updateProject')

  const save = async () => {
    const outcome = await update.run({
      input: {
        projectId: project.id,
        name: name.trim(),
        slug: slug.trim(),
        defaultModel: model.trim() || null,
        defaultThinkingLevel: level || null,
        expectedVersion: project.version,
      },
    })
    if (!outcome.ok) return outcome.problem.code === 'CONFLICT' ? onConflict() : undefined
    notifications.show({ message: t('settings.saved') })
    if (outcome.value.project.slug === project.slug) return
    setPreferences({ lastProject: outcome.value.project.slug })
    await navigate({ to: '/p/$slug/settings', params: { slug: outcome.value.project.slug }, replace: true })
  }
  return (
    <section>
      <h2>{t('settings.general')}</h2>
      {!allowed && <p className="mute">{t('settings.readOnly')}</p>}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div className="settings-grid">
          <TextInput
            label={t('settings.name')}
            required
            maxLength={120}
            disabled={!allowed}
            value={name}
            error={issueOf(update.problem, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label={t('settings.slug')}
            description={t('settings.slugHint')}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            required
            maxLength={64}
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            disabled={!allowed}
            value={slug}
            error={issueOf(update.problem, 'slug')}
            onChange={(event) => setSlug(event.currentTarget.value)}
          />
          <TextInput
            label={`${t('settings.defaults')}: ${t('settings.model')}`}
            description={t('settings.modelHint')}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            maxLength={120}
            disabled={!allowed}
            value={model}
            error={issueOf(update.problem, 'defaultModel')}
            onChange={(event) => setModel(event.currentTarget.value)}
          />
          <NativeSelect
            label={`${t('settings.defaults')}: ${t('settings.thinking')}`}
            disabled={!allowed}
            value={level}
            onChange={(event) => setLevel(event.currentTarget.value as Level | '')}
          >
            <option value="">{t('settings.thinkingNone')}</option>
            {levels.map((each) => (
              <option key={each} value={each}>
                {t(`settings.thinkingLevels.${each}`)}
              </option>
            ))}
          </NativeSelect>
        </div>
        <ProblemNotice problem={update.problem} />
        {allowed && (
          <div>
            <Button type="submit" loading={update.busy}>
              {t('settings.save')}
            </Button>
          </div>
        )}
      </form>
    </section>
  )
}
