import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useClient, useQuery } from 'urql'
import { graphql } from '../../data/graphql.ts'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { EmptyState } from '../../kit/empty-state.tsx'
import { setPreferences } from '../../kit/preferences.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { type ShellProject, useViewer } from '../../shell/viewer.ts'
import { CreateProject } from './queries.ts'
import { SampleStep } from './sample-step.tsx'
import { projectsText } from './text.ts'
import './new-project.css'

const ProjectNames = graphql(`
  query ProjectNames {
    projects(first: 100) { nodes { id slug name } }
  }
`)

/** Names a project; the first one goes on to the guided session. */
export function NewProjectPage() {
  const t = projectsText.useText()
  const navigate = useNavigate()
  const client = useClient()
  const viewer = useViewer()
  const [{ data }] = useQuery({ query: ProjectNames })
  const create = useCommand(CreateProject)
  const [name, setName] = useState('')
  const key = useIdempotencyKey()
  const [made, setMade] = useState<ShellProject>()
  const first = data?.projects.nodes.length === 0

  const submit = async () => {
    const outcome = await create.run({
      input: { name: name.trim(), idempotencyKey: key.keyFor(name.trim()) },
    })
    if (!outcome.ok) return
    const { project } = outcome.value
    setPreferences({ lastProject: project.slug })
    // The shell's list of projects is read again before the page of the new one opens.
    await client.query(ProjectNames, {}, { requestPolicy: 'network-only' }).toPromise()
    setMade(project)
  }
  if (made)
    return <SampleStep project={made} onSkip={() => void navigate({ to: '/p/$slug/inbox', params: made })} />
  if (!viewer.capabilities.includes('project.create'))
    return <EmptyState title={t('new.noCapability')}>{t('new.noCapabilityHint')}</EmptyState>
  return (
    <div className="page-body">
      <form
        className="sheet stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div>
          {first && <p className="mute num new-step">{t('new.step')}</p>}
          <h1>{first ? t('new.title') : t('new.titleAnother')}</h1>
          <p className="mute new-lead">{t('new.lead')}</p>
        </div>
        <TextInput
          label={t('new.name')}
          placeholder={t('new.namePlaceholder')}
          required
          autoFocus
          maxLength={120}
          maw={380}
          value={name}
          error={issueOf(create.problem, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <ProblemNotice problem={create.problem} />
        <div>
          <Button type="submit" size="sm" loading={create.busy} disabled={name.trim() === ''}>
            {t('new.create')}
          </Button>
        </div>
      </form>
    </div>
  )
}
