import { ActionIcon, Button } from '@mantine/core'
import { useState } from 'react'
import { useQuery } from 'urql'
import { CopyId } from '../../kit/copy-id.tsx'
import { RevisionFlag } from '../../kit/revision-flag.tsx'
import { StateMark } from '../../kit/state-marks.tsx'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { permission } from '../runs/allowed.ts'
import { Fact } from '../runs/facts.tsx'
import { sessionSummary, summaryMark } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import { compactNumber, totalTokens } from './numbers.ts'
import { type DialogName, SessionDialogs } from './session-dialogs.tsx'
import { placeOf, placeWords } from './session-place.ts'
import { SessionPeek, type SessionRowView } from './sessions-query.ts'
import { sessionText } from './text.ts'

type PeekProps = {
  session: SessionRowView
  onOpen: () => void
  onClose: () => void
  onChanged: () => void
}

/** A look at a session without leaving the list. */
export function SessionPeekPane({ session, onOpen, onClose, onChanged }: PeekProps) {
  const t = sessionText.useText()
  const run = runText.useText()
  const [dialog, setDialog] = useState<DialogName>()
  const summary = sessionSummary(session)
  const tokens = totalTokens(session.usage)
  const may = (action: string) => permission(session.allowedActions, action).is === 'allowed'
  return (
    <aside className="peek" aria-label={t('list.peek')}>
      <div className="peek-head">
        <h2 className="truncate">{session.title}</h2>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t('list.peekClose')}
          onClick={onClose}
        >
          ×
        </ActionIcon>
      </div>
      <StateMark kind={summaryMark(summary)}>{run(`state.${summary}`)}</StateMark>
      <dl className="facts">
        {session.intent && (
          <Fact label={t('aside.task')}>
            <RevisionFlag number={session.intent.number} /> {session.intent.text}
          </Fact>
        )}
        <Fact label={t('list.column.protocol')}>{placeWords(placeOf(session)) ?? '–'}</Fact>
        <Fact label={t('list.column.events')}>
          <span className="num">{session.eventCount}</span>
        </Fact>
        <Fact label={t('list.column.tokens')}>
          <span className="num">{tokens === null ? '–' : compactNumber(tokens)}</span>
        </Fact>
        <Fact label={t('list.column.last')}>
          <Timestamp at={session.lastActivityAt} />
        </Fact>
        <Fact label="id">
          <CopyId id={session.id} />
        </Fact>
      </dl>
      <div className="peek-actions">
        <Button size="compact-sm" rightSection={<kbd>⏎</kbd>} onClick={onOpen}>
          {t('list.peekOpen')}
        </Button>
        {may('renameSession') && (
          <Button size="compact-sm" variant="default" onClick={() => setDialog('rename')}>
            {t('head.rename')}
          </Button>
        )}
        {session.state === 'OPEN' && may('closeSession') && (
          <Button size="compact-sm" variant="default" onClick={() => setDialog('close')}>
            {t('head.close')}
          </Button>
        )}
        {may('deleteSession') && (
          <Button size="compact-sm" variant="default" c="var(--bad)" onClick={() => setDialog('delete')}>
            {t('head.remove')}
          </Button>
        )}
      </div>
      <LastMessages id={session.id} />
      {dialog && (
        <SessionDialogs
          session={session}
          dialog={dialog}
          onClose={() => setDialog(undefined)}
          onChanged={onChanged}
          onDeleted={() => {
            onClose()
            onChanged()
          }}
        />
      )}
    </aside>
  )
}

function LastMessages({ id }: { id: string }) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const [{ data, fetching }] = useQuery({
    query: SessionPeek,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const messages = data?.session?.messages.nodes
  return (
    <section aria-label={t('list.lastMessages')} className="peek-messages">
      <h2>{t('list.lastMessages')}</h2>
      {!messages && fetching && <p className="mute">{words('loading')}</p>}
      {messages?.length === 0 && <p className="mute">{t('list.noMessages')}</p>}
      {messages?.map((message) => (
        <article key={message.id}>
          <small className="mute">
            {message.author.name} · {t(`transcript.authority.${message.authority}`)} ·{' '}
            <Timestamp at={message.at} />
          </small>
          <p dir="auto">{message.text}</p>
        </article>
      ))}
    </section>
  )
}
