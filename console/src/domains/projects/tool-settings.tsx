import { Button, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useCommand } from '../../data/outcome.ts'
import { actionOf } from '../../kit/allowed.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import type { SettingsProps } from './general-settings.tsx'
import { UpdateProject } from './queries.ts'
import { projectsText } from './text.ts'

/** Each line that says something, each once, in their order. */
const lines = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

type Server = { key: number; server: string; tools: string }

/** What is left out of every tool plan: skills, and tools of MCP servers. */
export function ToolSettings({ project, onConflict }: SettingsProps) {
  const t = projectsText.useText()
  const update = useCommand(UpdateProject)
  const [deny, setDeny] = useState(project.skillDeny.join('\n'))
  const [allow, setAllow] = useState(project.skillAllow.join('\n'))
  const [servers, setServers] = useState<readonly Server[]>(() =>
    project.mcpAllow.map(({ server, tools }, key) => ({ key, server, tools: tools.join('\n') })),
  )
  const { allowed } = actionOf(project.allowedActions, 'updateProject')

  const save = async () => {
    const outcome = await update.run({
      input: {
        projectId: project.id,
        skillDeny: lines(deny),
        skillAllow: lines(allow),
        mcpAllow: servers.map(({ server, tools }) => ({ server: server.trim(), tools: lines(tools) })),
        expectedVersion: project.version,
      },
    })
    if (outcome.ok) notifications.show({ message: t('settings.saved') })
    else if (outcome.problem.code === 'CONFLICT') onConflict()
  }
  return (
    <section>
      <h2>{t('settings.exposure.title')}</h2>
      <p className="mute">{allowed ? t('settings.exposure.lead') : t('settings.readOnly')}</p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div className="settings-grid">
          <Patterns
            label={t('settings.exposure.deny')}
            hint={t('settings.exposure.lines')}
            value={deny}
            disabled={!allowed}
            onChange={setDeny}
          />
          <Patterns
            label={t('settings.exposure.allow')}
            hint={t('settings.exposure.allowHint')}
            value={allow}
            disabled={!allowed}
            onChange={setAllow}
          />
        </div>
        <p className="mute">{t('settings.exposure.meta')}</p>
        <Servers servers={servers} disabled={!allowed} onChange={setServers} />
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

type PatternsProps = {
  label: string
  hint: string
  value: string
  disabled: boolean
  onChange: (value: string) => void
}

function Patterns({ label, hint, value, disabled, onChange }: PatternsProps) {
  return (
    <Textarea
      label={label}
      description={hint}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      classNames={{ input: 'mono' }}
      autosize
      minRows={3}
      maxRows={12}
      spellCheck={false}
      disabled={disabled}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

type ServersProps = {
  servers: readonly Server[]
  disabled: boolean
  onChange: (servers: readonly Server[]) => void
}

function Servers({ servers, disabled, onChange }: ServersProps) {
  const t = projectsText.useText()
  const change = (key: number, next: Partial<Server>) =>
    onChange(servers.map((each) => (each.key === key ? { ...each, ...next } : each)))
  return (
    <fieldset className="settings-servers">
      <legend>{t('settings.exposure.mcp')}</legend>
      <p className="mute">{t('settings.exposure.mcpHint')}</p>
      {servers.length === 0 && <p className="mute">{t('settings.exposure.mcpNone')}</p>}
      {servers.map(({ key, server, tools }) => (
        <div key={key} className="settings-server">
          <TextInput
            label={t('settings.exposure.server')}
            required
            maxLength={120}
            classNames={{ input: 'mono' }}
            disabled={disabled}
            value={server}
            onChange={(event) => change(key, { server: event.currentTarget.value })}
          />
          <Patterns
            label={t('settings.exposure.serverTools')}
            hint={`${t('settings.exposure.serverToolsHint')} ${t('settings.exposure.lines')}`}
            value={tools}
            disabled={disabled}
            onChange={(next) => change(key, { tools: next })}
          />
          {!disabled && (
            <Button
              variant="default"
              size="compact-sm"
              aria-label={t('settings.exposure.removeServer', {
                name: server || t('settings.exposure.unnamed'),
              })}
              onClick={() => onChange(servers.filter((each) => each.key !== key))}
            >
              {t('settings.exposure.remove')}
            </Button>
          )}
        </div>
      ))}
      {!disabled && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              const key = Math.max(0, ...servers.map((each) => each.key)) + 1
              onChange([...servers, { key, server: '', tools: '' }])
            }}
          >
            {t('settings.exposure.addServer')}
          </Button>
        </div>
      )}
    </fieldset>
  )
}
