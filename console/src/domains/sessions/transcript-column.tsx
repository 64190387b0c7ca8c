import { Button } from '@mantine/core'
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { FailedState } from '../../kit/empty-state.tsx'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { useViewer } from '../../shell/viewer.ts'
import { RerouteAction } from '../intents/reroute-action.tsx'
import type { TaskDialog } from '../intents/task-dialog.ts'
import { permission } from '../runs/allowed.ts'
import { isLive, runMark, shownState } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import { Composer } from './composer.tsx'
import type { SessionJournal } from './session-journal.ts'
import type { SessionView } from './session-query.ts'
import { sessionText } from './text.ts'
import './transcript.css'
import { type Transcript, type TranscriptEntry, type TranscriptRun, transcriptEntries } from './transcript.ts'
import { useTranscript } from './use-transcript.ts'

type TranscriptColumnProps = {
  journal: SessionJournal
  session: SessionView
  onTask: (dialog: TaskDialog) => void
  onChanged: () => void
}

export function TranscriptColumn({ journal, session, onTask, onChanged }: TranscriptColumnProps) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const pages = useTranscript(journal, session)
  const entries = useMemo(() => transcriptEntries(pages.transcript), [pages.transcript])
  const scroller = useStickToEnd(pages.transcript)
  return (
    <section className="session-column" aria-label={t('transcript.title')}>
      <div className="session-column-head">
        <h2>{t('transcript.title')}</h2>
        <span className="grow" />
        <span className="mute num">
          {t('transcript.count', { shown: pages.transcript.messages.length, total: pages.total })}
        </span>
      </div>
      <div className="transcript" ref={scroller}>
        {pages.hasEarlier && (
          <Button
            className="transcript-more"
            size="compact-xs"
            variant="default"
            loading={pages.loading}
            onClick={pages.loadEarlier}
          >
            {t('transcript.earlier')}
          </Button>
        )}
        {pages.problem && <FailedState problem={pages.problem} onRetry={pages.loadEarlier} />}
        {entries.length === 0 && !pages.problem && (
          <p className="transcript-empty mute">{pages.loading ? words('loading') : t('transcript.empty')}</p>
        )}
        {entries.map((entry) => (
          <Entry key={entry.key} entry={entry} />
        ))}
        <BesideTask session={session} transcript={pages.transcript} onTask={onTask} onChanged={onChanged} />
      </div>
      <Composer session={session} onChanged={onChanged} />
    </section>
  )
}

type BesideTaskProps = Omit<TranscriptColumnProps, 'journal'> & { transcript: Transcript }

/** Under a newest run that was taken as beside the task: that it can be made a part of it. */
function BesideTask({ session, transcript, onTask, onChanged }: BesideTaskProps) {
  const newest = session.activeRun ?? session.lastRun
  const route = newest && transcript.runs.get(newest.id)?.route
  // A handoff may have made it a task meanwhile.
  if (!newest || !session.intent || !route || newest.binding.relation !== 'SIDE_CHAT') return null
  if (permission(newest.allowedActions, 'rerouteRun').is !== 'allowed') return null
  const run = { id: newest.id, number: newest.number, route }
  return (
    <div className="transcript-beside">
      <RerouteAction run={run} onOther={() => onTask({ kind: 'reroute', run })} onChanged={onChanged} />
    </div>
  )
}

/** Stays at the end while the reader is there, and where the reader is otherwise. */
function useStickToEnd(changes: unknown) {
  const scroller = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const height = useRef(0)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40
    }
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the content may have grown
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const grown = element.scrollHeight - height.current
    height.current = element.scrollHeight
    if (atEnd.current) element.scrollTop = element.scrollHeight
    // Earlier messages came in above: keep what is being read where it is.
    else if (element.scrollTop < 80 && grown > 0) element.scrollTop += grown
  }, [changes])
  return scroller
}

const Entry = memo(function Entry({ entry }: { entry: TranscriptEntry }) {
  const t = sessionText.useText()
  const viewer = useViewer()
  if (entry.kind === 'run') return <RunEntry entry={entry} />
  const { author, authority, text, at } = entry.message
  const own = author.id === viewer.id
  const guidance = entry.kind === 'guidance'
  const name = own ? t('transcript.you') : `${author.name} · ${t(`transcript.authority.${authority}`)}`
  const who = guidance ? `${name} · ${t('transcript.guidance', { number: entry.number })}` : name
  return (
    <article className="said" data-own={own || undefined} data-said data-guidance={guidance || undefined}>
      <EntryHead who={who} right={<When at={at} />} />
      <Text text={text} />
    </article>
  )
}, sameEntry)

/** Entries are made anew with each event; only what they show counts. */
function sameEntry(before: { entry: TranscriptEntry }, after: { entry: TranscriptEntry }): boolean {
  const [a, b] = [before.entry, after.entry]
  if (a.kind === 'run' && b.kind === 'run')
    return a.run === b.run && a.answer === b.answer && a.stream === b.stream
  return a.kind !== 'run' && b.kind !== 'run' && a.kind === b.kind && a.message === b.message
}

function RunEntry({ entry }: { entry: Extract<TranscriptEntry, { kind: 'run' }> }) {
  const t = sessionText.useText()
  const run = runText.useText()
  const { number, runtimeName, state, asks } = entry.run
  const who =
    runtimeName === null
      ? t('transcript.agentNoName', { number })
      : t('transcript.agent', { name: runtimeName, number })
  const shown = shownState(entry.run)
  const hint = state === 'COMPLETED' ? String(runText.find(`stateHint.${shown}`)) : undefined
  return (
    <article className="said" data-agent>
      <EntryHead
        who={who}
        right={
          <StateMark kind={runMark(shown)} title={hint}>
            {run(`state.${shown}`)}
          </StateMark>
        }
      />
      {entry.answer ? (
        <Text text={entry.answer.text} />
      ) : (
        entry.stream !== null && <Text text={entry.stream} streaming={isLive(state)} />
      )}
      {asks.map((ask) => (
        <p key={ask.id} className="mute">
          {t('transcript.asks', { title: ask.title })}
        </p>
      ))}
      {entry.run.behind && <p className="said-behind">{t('transcript.actedUnder', entry.run.behind)}</p>}
      <Ending run={entry.run} spoke={entry.answer !== null || entry.stream !== null} />
    </article>
  )
}

/** Why there is no answer, or what became of the run besides it. */
function Ending({ run, spoke }: { run: TranscriptRun; spoke: boolean }) {
  const t = sessionText.useText()
  const words = runText.useText()
  const { state, failureCode, failureMessage, endReason, effects, asks } = run
  if (state === 'OFFERED') return <p className="mute">{t('transcript.offered')}</p>
  if (isLive(state))
    return spoke || asks.length > 0 ? null : <p className="mute">{t('transcript.working')}</p>
  if (state === 'COMPLETED') return spoke ? null : <p className="mute">{t('transcript.noAnswer')}</p>
  const why = [failureMessage ?? failureCode, endReason && t('row.reason', { reason: endReason })]
  return <p className="mute">{[...why, words(`effects.${effects}`)].filter(Boolean).join(' · ')}</p>
}

function EntryHead({ who, right }: { who: string; right: ReactNode }) {
  return (
    <small className="said-head">
      <span className="truncate">{who}</span>
      {right}
    </small>
  )
}

function When({ at }: { at: string }) {
  const zone = shownTimeZone(usePreferences())
  const sameDay =
    new Date(at).toLocaleDateString('en-CA', { timeZone: zone }) ===
    new Date().toLocaleDateString('en-CA', { timeZone: zone })
  return <Timestamp at={at} ledger show={sameDay ? 'clock' : 'full'} />
}

/**
 * Whoever wrote it, it is shown as text: never as markup. Each line is a block of its own, so that an
 * answer that grows lays out its last line only.
 */
function Text({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const lines = text.split('\n')
  return (
    <div className="said-text" data-streaming={streaming || undefined}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
        <Line key={index} text={line} />
      ))}
    </div>
  )
}

const Line = memo(function Line({ text }: { text: string }) {
  return <div dir="auto">{text === '' ? '\u200b' : text}</div>
})
