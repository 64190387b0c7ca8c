import { ActionIcon, Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'
import type { Problem } from '../../data/outcome.ts'
import { CopyId } from '../../kit/copy-id.tsx'
import { EmptyState, FailedState } from '../../kit/empty-state.tsx'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { Fact } from '../runs/facts.tsx'
import { runText } from '../runs/text.ts'
import { useDetailLines } from './event-detail.tsx'
import { JournalError, readEvent } from './read-journal.ts'
import type { SessionEvent } from './session-event.ts'
import type { SessionJournal } from './session-journal.ts'
import { sessionText } from './text.ts'

type EventPanelProps = {
  sessionId: string
  sequence: number
  journal: SessionJournal
  onClose: () => void
  onMove: (sequence: number) => void
  onOnlyRun: (runId: string) => void
}

/** One event, whole: what the journal holds of it, its run and a link that leads back here. */
export function EventPanel({ sessionId, sequence, journal, onClose, onMove, onOnlyRun }: EventPanelProps) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const { event, missing, problem, retry } = useEvent(sessionId, sequence, journal)
  return (
    <aside className="session-column event-panel" aria-label={t('panel.title')}>
      <div className="session-column-head">
        <h2>
          {t('panel.title')} <span className="mono num">#{sequence}</span>
        </h2>
        <span className="grow" />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t('panel.previous')}
          disabled={sequence <= 1}
          onClick={() => onMove(sequence - 1)}
        >
          ↑
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t('panel.next')}
          onClick={() => onMove(sequence + 1)}
        >
          ↓
        </ActionIcon>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('panel.close')} onClick={onClose}>
          ×
        </ActionIcon>
      </div>
      <div className="event-panel-body">
        {problem && <FailedState problem={problem} onRetry={retry} />}
        {missing && <EmptyState title={t('panel.missing', { sequence })} />}
        {!event && !problem && !missing && <p className="mute">{words('loading')}</p>}
        {event && <EventFacts event={event} onOnlyRun={onOnlyRun} />}
        {event && <Payload event={event} />}
        <Links event={event} journal={journal} sequence={sequence} />
      </div>
    </aside>
  )
}

function useEvent(sessionId: string, sequence: number, journal: SessionJournal) {
  const [found, setFound] = useState<{ event?: SessionEvent; missing?: boolean; problem?: Problem }>({})
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` asks again after a failure
  useEffect(() => {
    const loaded = journal.snapshot().window?.events.find((each) => each.sequence === sequence)
    if (loaded) {
      setFound({ event: loaded })
      return
    }
    setFound({})
    let wanted = true
    readEvent(sessionId, sequence).then(
      (event) => wanted && setFound(event ? { event } : { missing: true }),
      (error: unknown) => {
        const code = error instanceof JournalError ? error.code : 'INTERNAL'
        if (wanted) setFound({ problem: { code, message: String(error), retryable: true } })
      },
    )
    return () => {
      wanted = false
    }
  }, [sessionId, sequence, journal, tries])
  return { ...found, retry: () => setTries((count) => count + 1) }
}

type EventFactsProps = { event: SessionEvent; onOnlyRun: (runId: string) => void }

function EventFacts({ event, onOnlyRun }: EventFactsProps) {
  const t = sessionText.useText()
  const run = runText.useText()
  return (
    <dl className="facts">
      <Fact label={t('panel.type')}>
        {sessionText.find(`event.${event.type}`)} <code className="mute">{event.type}</code>
      </Fact>
      <Fact label={t('panel.at')}>
        <Timestamp at={event.at} ledger />
      </Fact>
      {event.run && (
        <Fact label={t('panel.run')}>
          <button type="button" className="link-button" onClick={() => event.run && onOnlyRun(event.run.id)}>
            {run('run', { number: event.run.number })}
          </button>{' '}
          {event.runSequence !== null && (
            <span className="mute num">{t('panel.inRun', { number: event.runSequence })}</span>
          )}
        </Fact>
      )}
      <Detail event={event} />
      <Fact label="id">
        <CopyId id={event.id} />
      </Fact>
    </dl>
  )
}

function Detail({ event }: { event: SessionEvent }) {
  return useDetailLines(event).map(([label, value]) =>
    value ? (
      <Fact key={label} label={label}>
        <span className="event-detail">{value}</span>
      </Fact>
    ) : null,
  )
}

function Payload({ event }: { event: SessionEvent }) {
  const t = sessionText.useText()
  return (
    <section className="event-payload">
      <h2>{t('panel.payload')}</h2>
      <pre className="mono">{JSON.stringify(event.payload, null, 2)}</pre>
    </section>
  )
}

type LinksProps = { event: SessionEvent | undefined; journal: SessionJournal; sequence: number }

function Links({ event, journal, sequence }: LinksProps) {
  const t = sessionText.useText()
  const copied = async (text: string) => {
    await navigator.clipboard.writeText(text)
    notifications.show({ message: t('head.copied') })
  }
  return (
    <div className="event-links">
      <Button size="compact-xs" variant="default" onClick={() => void copied(location.href)}>
        {t('panel.permalink')}
      </Button>
      {event && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => void copied(JSON.stringify(event.payload, null, 2))}
        >
          {t('panel.copyPayload')}
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => journal.openAt(sequence)}>
        {t('panel.showInTimeline')}
      </Button>
      {event && <CopyAs event={event} onCopy={copied} />}
    </div>
  )
}

function CopyAs({ event, onCopy }: { event: SessionEvent; onCopy: (text: string) => Promise<void> }) {
  const t = sessionText.useText()
  const query = 'query Event($id: ID!) { node(id: $id) { ... on SessionEvent { sequence type at payload } } }'
  const variables = { id: event.id }
  const curl = [
    `curl -s ${new URL('/graphql', location.href).href}`,
    `-H 'content-type: application/json'`,
    `-H "authorization: Bearer $WHEELHOUSE_TOKEN"`,
    `-d '${JSON.stringify({ query, variables })}'`,
  ].join(' \\\n  ')
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void onCopy(`${query}\n\n# variables\n${JSON.stringify(variables)}\n`)}
      >
        {t('head.copyGraphql')}
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => void onCopy(curl)}>
        {t('head.copyCurl')}
      </Button>
    </>
  )
}
