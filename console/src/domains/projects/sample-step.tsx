import { Button, Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useQuery, useSubscription } from 'urql'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { useCommand } from '../../data/outcome.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import type { ShellProject } from '../../shell/viewer.ts'
import { followGuide } from './guide-state.ts'
import { CreateSampleSession, ProjectRuntimes, RuntimeChanges, SubmitSampleTurn } from './queries.ts'
import { projectsText } from './text.ts'
import './new-project.css'

const patienceMs = 15_000

/** The last step of the first run: a session in which the runtime in the box really works. */
export function SampleStep({ project, onSkip }: { project: ShellProject; onSkip: () => void }) {
  const t = projectsText.useText()
  const navigate = useNavigate()
  const [{ data }, refresh] = useQuery({
    query: ProjectRuntimes,
    variables: { id: project.id },
    requestPolicy: 'cache-and-network',
  })
  const [{ data: change }] = useSubscription({ query: RuntimeChanges, variables: { projectId: project.id } })
  useEffect(() => {
    if (change) refresh({ requestPolicy: 'network-only' })
  }, [change, refresh])
  const sample = data?.project?.runtimes.find(
    ({ name, kinds }) => name === 'sample' || kinds.includes('sample'),
  )
  const connected = sample?.state === 'CONNECTED'
  const [missing, setMissing] = useState(false)
  useEffect(() => {
    if (connected) return setMissing(false)
    const timer = setTimeout(() => setMissing(true), patienceMs)
    return () => clearTimeout(timer)
  }, [connected])

  const create = useCommand(CreateSampleSession)
  const submit = useCommand(SubmitSampleTurn)
  const sessionKey = useIdempotencyKey()
  const turnKey = useIdempotencyKey()
  const start = async () => {
    const title = t('new.sampleSession')
    const session = await create.run({
      input: { projectId: project.id, title, idempotencyKey: sessionKey.keyFor(title) },
    })
    if (!session.ok) return
    const sessionId = session.value.session.id
    const text = t('new.sampleTurn')
    const turn = await submit.run({
      input: {
        sessionId,
        text,
        runtimeId: sample?.id ?? null,
        idempotencyKey: turnKey.keyFor([sessionId, text]),
      },
    })
    if (!turn.ok) return
    followGuide(sessionId)
    await navigate({ to: '/p/$slug/sessions/$sessionId', params: { slug: project.slug, sessionId } })
  }
  return (
    <div className="page-body">
      <div className="sheet stack">
        <div>
          <p className="mute num new-step">{t('new.stepSample')}</p>
          <h1>{t('new.sampleTitle')}</h1>
          <p className="mute new-lead">{t('new.sampleLead')}</p>
        </div>
        <blockquote className="new-turn">{t('new.sampleTurn')}</blockquote>
        {!connected && (
          <p className="mute" role="status">
            {missing ? t('new.sampleMissing') : t('new.sampleWaiting')}
          </p>
        )}
        <ProblemNotice problem={create.problem ?? submit.problem} />
        <Group gap="xs">
          <Button
            size="sm"
            loading={create.busy || submit.busy}
            disabled={!connected}
            onClick={() => void start()}
          >
            {t('new.sampleStart')}
          </Button>
          <Button size="sm" variant="default" onClick={onSkip}>
            {t('new.sampleSkip')}
          </Button>
        </Group>
      </div>
    </div>
  )
}
