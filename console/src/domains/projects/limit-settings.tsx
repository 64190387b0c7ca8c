import { Button, NumberInput, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import type { SettingsProject, SettingsProps } from './general-settings.tsx'
import { UpdateProjectLimits } from './queries.ts'
import { projectsText } from './text.ts'

type LimitName = keyof SettingsProject['limits']
/** Shown in the unit a person thinks in; `size` is how many of the server's units one of them is. */
const limits: readonly {
  name: LimitName
  unit: 'runs' | 'sessions' | 'days' | 'bytes' | 'seconds' | 'minutes' | 'hours'
  size: number
}[] = [
  { name: 'maxConcurrentRuns', unit: 'runs', size: 1 },
  { name: 'maxLiveRunsPerSession', unit: 'runs', size: 1 },
  { name: 'maxOpenSessions', unit: 'sessions', size: 1 },
  { name: 'eventRetentionDays', unit: 'days', size: 1 },
  { name: 'maxEventBytes', unit: 'bytes', size: 1 },
  { name: 'runTimeoutMs', unit: 'minutes', size: 60_000 },
  { name: 'offerTimeoutMs', unit: 'seconds', size: 1_000 },
  { name: 'runtimeGraceMs', unit: 'seconds', size: 1_000 },
  { name: 'approvalTtlMs', unit: 'hours', size: 3_600_000 },
]

export function LimitSettings({ project, onConflict }: SettingsProps) {
  const t = projectsText.useText()
  const update = useCommand(UpdateProjectLimits)
  const [values, setValues] = useState<Record<LimitName, number | ''>>(() => ({ ...project.limits }))
  const [reason, setReason] = useState('')
  const { allowed } = actionOf(project.allowedActions, 'updateProjectLimits')
  const changed = limits.filter(({ name }) => values[name] !== project.limits[name])

  const save = async () => {
    const outcome = await update.run({
      input: {
        projectId: project.id,
        limits: Object.fromEntries(
          changed.map(({ name }) => [name, values[name] === '' ? null : values[name]]),
        ),
        reason: reason.trim() || null,
        expectedVersion: project.version,
      },
    })
    if (!outcome.ok) return outcome.problem.code === 'CONFLICT' ? onConflict() : undefined
    setReason('')
    notifications.show({ message: t('settings.saved') })
  }
  return (
    <section>
      <h2>{t('settings.limits')}</h2>
      <p className="mute">{allowed ? t('settings.limitsLead') : t('settings.readOnly')}</p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div>
          {limits.map(({ name, unit, size }) => {
            const value = values[name]
            return (
              <div className="limit-row" key={name}>
                <label htmlFor={`limit-${name}`}>{t(`settings.limit.${name}`)}</label>
                <span className="limit-value">
                  <NumberInput
                    id={`limit-${name}`}
                    size="xs"
                    min={0}
                    hideControls
                    thousandSeparator=" "
                    disabled={!allowed}
                    value={value === '' ? '' : value / size}
                    error={issueOf(update.problem, name)}
                    onChange={(next) =>
                      setValues({
                        ...values,
                        [name]: typeof next === 'number' ? Math.round(next * size) : '',
                      })
                    }
                  />
                  {t(`settings.unit.${unit}`)}
                </span>
              </div>
            )
          })}
        </div>
        {changed.length > 0 && (
          <TextInput
            label={t('settings.reason')}
            description={t('settings.reasonHint')}
            maxLength={2000}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <ProblemNotice problem={update.problem} />
        {allowed && (
          <div>
            <Button type="submit" loading={update.busy} disabled={changed.length === 0}>
              {t('settings.saveLimits')}
            </Button>
          </div>
        )}
      </form>
    </section>
  )
}
