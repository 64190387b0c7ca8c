import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useQuery } from 'urql'
import type { ResultOf } from '../../../data/graphql.ts'
import { useIdempotencyKey } from '../../../data/idempotency.ts'
import { problemOf, useCommand } from '../../../data/outcome.ts'
import { actionOf } from '../../../kit/allowed.ts'
import { issueOf, ProblemNotice } from '../../../kit/problem-notice.tsx'
import { kitText } from '../../../kit/text.ts'
import { usePlaceWords } from './branch-words.ts'
import { CreateCheckpoint, ForkSession, ForkSource } from './fork-queries.ts'
import { ForkSight } from './fork-sight.tsx'
import { forksText } from './text.ts'
import './forks.css'

/** A checkpoint, or a run that is to be said anew, each with its number in the session. */
export type ForkFrom = { checkpointId: string; number: number } | { runId: string; runNumber: number }

type ForkDialogProps = {
  sessionId: string
  /** The place: a checkpoint, or a run that is to be said anew. Without it the newest checkpoint is offered first. */
  from?: ForkFrom | undefined
  onClose: () => void
  /** The fork is there: open it. */
  onForked: (sessionId: string) => void
}
export type Source = NonNullable<ResultOf<typeof ForkSource>['session']>

const now = 'now'
const longestTitle = 120

/** Asks where to fork from and how to call it, and says what the fork will see. Nothing of the session changes. */
export function ForkDialog(props: ForkDialogProps) {
  const t = forksText.useText()
  const words = kitText.useText()
  const [{ data, error }] = useQuery({
    query: ForkSource,
    variables: { id: props.sessionId },
    requestPolicy: 'cache-and-network',
  })
  const session = data?.session
  return (
    <Modal
      opened
      size="lg"
      onClose={props.onClose}
      title={session ? t('dialog.title', { title: session.title }) : t('fork')}
      closeButtonProps={{ 'aria-label': words('close') }}
    >
      {session ? (
        <ForkForm {...props} session={session} />
      ) : error ? (
        <ProblemNotice problem={problemOf(error)} />
      ) : (
        <p className="mute">{words('loading')}</p>
      )}
    </Modal>
  )
}

function ForkForm({ session, from, onClose, onForked }: ForkDialogProps & { session: Source }) {
  const t = forksText.useText()
  const words = kitText.useText()
  const placeWords = usePlaceWords()
  const create = useCommand(CreateCheckpoint)
  const fork = useCommand(ForkSession)
  const markKey = useIdempotencyKey()
  const forkKey = useIdempotencyKey()
  const { nodes: checkpoints, pageInfo } = session.checkpoints
  const given = from && ('checkpointId' in from ? from.checkpointId : from.runId)
  const [place, setPlace] = useState(given ?? checkpoints[0]?.id ?? now)
  const [typed, setTyped] = useState<string>()
  const run = from && 'runId' in from && place === from.runId ? from : undefined
  const checkpoint = checkpoints.find(({ id }) => id === place)
  const { title } = session
  const proposed = run
    ? t('dialog.nameBefore', { title, number: run.runNumber })
    : checkpoint
      ? t('dialog.nameFrom', { title, number: checkpoint.number })
      : t('dialog.nameNow', { title })
  const name = typed ?? (proposed.length > longestTitle ? title : proposed)
  const { allowed, reason } = actionOf(session.allowedActions, 'forkSession')

  const submit = async () => {
    const wanted = { sessionId: session.id, title: name.trim() || null }
    let at: { runId: string } | { checkpointId: string } = run ? { runId: place } : { checkpointId: place }
    if (place === now) {
      const mark = { sessionId: session.id }
      const made = await create.run({ input: { ...mark, idempotencyKey: markKey.keyFor(mark) } })
      if (!made.ok) return
      at = { checkpointId: made.value.checkpoint.id }
    }
    const input = { ...wanted, ...at }
    const outcome = await fork.run({ input: { ...input, idempotencyKey: forkKey.keyFor(input) } })
    if (outcome.ok) onForked(outcome.value.session.id)
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (allowed) void submit()
      }}
    >
      <NativeSelect
        label={t('dialog.from')}
        value={place}
        description={pageInfo.hasNextPage ? t('dialog.older') : undefined}
        onChange={(event) => setPlace(event.currentTarget.value)}
      >
        <option value={now}>{t('dialog.now')}</option>
        {from && 'runId' in from && (
          <option value={from.runId}>{t('beforeRun', { number: from.runNumber })}</option>
        )}
        {from && 'checkpointId' in from && !checkpoints.some(({ id }) => id === from.checkpointId) && (
          <option value={from.checkpointId}>{t('checkpoint', { number: from.number })}</option>
        )}
        {checkpoints.map(({ id, number, label, run, intent }) => (
          <option key={id} value={id}>
            {placeWords({
              number,
              label,
              runNumber: run?.number ?? null,
              revision: intent?.number ?? null,
            })}
          </option>
        ))}
      </NativeSelect>
      <ForkSight
        session={session}
        place={
          place === now ? undefined : run ? { kind: 'run', id: place } : { kind: 'checkpoint', id: place }
        }
      />
      <TextInput
        label={t('dialog.name')}
        value={name}
        maxLength={longestTitle}
        data-autofocus
        error={issueOf(fork.problem, 'title')}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {!allowed && (
        <p className="mute">{t('dialog.notAllowed', { reason: reason ?? t('dialog.noCapability') })}</p>
      )}
      <ProblemNotice problem={create.problem ?? fork.problem} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {words('cancel')}
        </Button>
        <Button type="submit" disabled={!allowed} loading={create.busy || fork.busy}>
          {t('dialog.submit')}
        </Button>
      </Group>
    </form>
  )
}
