import { memo } from 'react'
import { shownTimeZone, usePreferences } from '../../kit/preferences.ts'
import { StateMark } from '../../kit/state-marks.tsx'
import { clockTime, utcTime } from '../../kit/time.ts'
import { ApprovalActions } from '../runs/approval-actions.tsx'
import { ApprovalState, IfIgnored } from '../runs/approval-words.tsx'
import { runMark, shownState } from '../runs/run-state.ts'
import { runText } from '../runs/text.ts'
import { sessionText } from './text.ts'
import type { TimelineRow } from './timeline-draft.ts'
import { BandLabel, bandOf, Flag } from './timeline-marks.tsx'
import { IntentWords, NoteWords, type Of, Quiet, ToolWords, useTook } from './timeline-words.tsx'

export type RowActions = {
  open: (sequence: number) => void
  onlyRun: (runId: string) => void
}

type RowProps = {
  row: TimelineRow
  selected: boolean
  /** Whether this gate has the keys of the page's first open approval. */
  answersByKey: boolean
  actions: RowActions
}

/** One row of the timeline; its height is fixed by its kind, only an open gate measures itself. */
export const Row = memo(function Row({ row, selected, answersByKey, actions }: RowProps) {
  const t = sessionText.useText()
  return (
    <div
      className="tl-row"
      data-kind={row.kind}
      data-band={bandOf(row)}
      data-band-start={row.inBand === 0 || undefined}
      data-selected={selected || undefined}
      data-bad={isBad(row) || undefined}
    >
      <Clock at={row.at} />
      <span className="tl-band">
        <Flag row={row} />
        {row.runId !== null && row.inBand === 0 && row.runNumber !== null ? (
          <RunLabel runId={row.runId} number={row.runNumber} actions={actions} />
        ) : (
          <BandLabel row={row} />
        )}
      </span>
      <span className="tl-what">
        <Words row={row} answersByKey={answersByKey} />
      </span>
      <button
        type="button"
        className="tl-number mono num"
        aria-label={t('timeline.open', { sequence: row.sequence })}
        aria-current={selected ? 'true' : undefined}
        onClick={() => actions.open(row.sequence)}
      >
        #{row.sequence}
      </button>
    </div>
  )
})

function isBad(row: TimelineRow): boolean {
  if (row.kind === 'tool') return row.ok === false || row.asked?.decision === 'DENIED'
  return row.event.type === 'RUN_WRITE_REJECTED' || row.event.type === 'HANDOFF_REJECTED'
}

/** The clock of a row; the day is in the tooltip with the zone and UTC, the whole time in the event panel. */
function Clock({ at }: { at: string }) {
  const chosen = usePreferences()
  const moment = Date.parse(at)
  return (
    <time className="tl-clock mono num" dateTime={at} title={`${at} · ${utcTime(moment)}`}>
      {clockTime(moment, shownTimeZone(chosen))}
    </time>
  )
}

function RunLabel({ runId, number, actions }: { runId: string; number: number; actions: RowActions }) {
  const run = runText.useText()
  const t = sessionText.useText()
  return (
    <button
      type="button"
      className="tl-run"
      aria-label={t('timeline.onlyRun', { number })}
      title={t('timeline.onlyRun', { number })}
      onClick={() => actions.onlyRun(runId)}
    >
      {run('run', { number })}
    </button>
  )
}

function Words({ row, answersByKey }: { row: TimelineRow; answersByKey: boolean }) {
  switch (row.kind) {
    case 'turn':
      return <TurnWords row={row} />
    case 'tool':
      return <ToolWords row={row} />
    case 'intent':
      return <IntentWords row={row} />
    case 'gate':
      return <Gate row={row} answersByKey={answersByKey} />
    case 'text':
      return <TextWords row={row} />
    case 'steer':
      return <SteerWords row={row} />
    case 'run':
      return <RunWords row={row} />
    case 'note':
      return <NoteWords row={row} />
    default:
      return row satisfies never
  }
}

function TurnWords({ row }: Of<'turn'>) {
  const t = sessionText.useText()
  const { route } = row
  return (
    <>
      <b className="tl-said">“{row.text}”</b>{' '}
      <Quiet
        parts={[
          row.author,
          // Beside a task there is only something to say where there is a task.
          route && route.source !== 'DEFAULT' && t(`row.relation.${route.relation}`),
          route?.protocol,
          route && t(`row.source.${route.source}`),
          route?.confidence,
        ]}
      />
    </>
  )
}

function TextWords({ row }: Of<'text'>) {
  const t = sessionText.useText()
  if (row.role === 'reasoning')
    return (
      <span className="mute">
        {t('row.reasoning')} · <i>{row.text.replace(/\s+/g, ' ')}</i>
      </span>
    )
  return (
    <>
      <span className="tl-answer">{row.text.replace(/\s+/g, ' ')}</span>{' '}
      <Quiet
        parts={[
          !row.final && row.lastSequence > row.sequence && t('row.streaming'),
          row.length > 200 && t('row.characters', { count: row.length }),
        ]}
      />
    </>
  )
}

function SteerWords({ row }: Of<'steer'>) {
  const t = sessionText.useText()
  return (
    <>
      <span aria-hidden="true">↳ </span>
      <b className="tl-said">“{row.text}”</b> <Quiet parts={[t('row.guidance'), row.author]} />
    </>
  )
}

function RunWords({ row }: Of<'run'>) {
  const t = sessionText.useText()
  const run = runText.useText()
  const took = useTook(row.took)
  const detail = row.event.detail
  if (detail?.__typename !== 'RunStateDetail') return null
  const ended = row.took !== null || detail.effects !== null
  const state = shownState({ state: row.state, completion: detail.completion })
  return (
    <>
      <StateMark kind={runMark(state)}>
        {row.runNumber !== null && `${run('run', { number: row.runNumber })} `}
        {row.event.type === 'RUN_WRITE_REJECTED'
          ? sessionText.find('event.RUN_WRITE_REJECTED')
          : run(`state.${state}`)}
      </StateMark>{' '}
      <Quiet
        parts={[
          detail.failureCode && <code>{detail.failureCode}</code>,
          detail.failureMessage,
          detail.reason && t('row.reason', { reason: detail.reason }),
          detail.actor && t('row.by', { name: detail.actor.name }),
          detail.runtime && !ended && t('row.onRuntime', { name: detail.runtime.name }),
          ended && detail.effects && run(`effects.${detail.effects}`),
          took,
        ]}
      />
    </>
  )
}

function Gate({ row, answersByKey }: Of<'gate'> & { answersByKey: boolean }) {
  const { approval } = row
  if (approval.state !== 'OPEN')
    return (
      <>
        <ApprovalState approval={approval} /> <Quiet parts={[approval.title, approval.note]} />
      </>
    )
  return (
    <div className="tl-gate">
      <ApprovalState approval={approval} />
      <p className="tl-gate-title">{approval.title}</p>
      <ApprovalActions approval={approval} keys={answersByKey} />
      <small className="mute">
        <IfIgnored approval={approval} />
      </small>
    </div>
  )
}
