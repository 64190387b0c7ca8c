import { NativeSelect } from '@mantine/core'
import { structuredPatch } from 'diff'
import { useMemo } from 'react'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ChangeList } from './change-list.tsx'
import { compareProtocols } from './compare.ts'
import { asWritten, textOf } from './definition-text.ts'
import type { ProtocolRow } from './queries.ts'
import { protocolsText } from './text.ts'

type CompareViewProps = {
  protocol: ProtocolRow
  /** All versions of it, the newest first. */
  versions: readonly ProtocolRow[]
  /** The one before when absent. */
  against: number | undefined
  onAgainst: (version: number) => void
}

/** Two versions: what is different in words, and line by line. Loaded lazily, with the diff library. */
export function CompareView({ protocol, versions, against, onAgainst }: CompareViewProps) {
  const t = protocolsText.useText()
  const others = versions.filter(({ version }) => version !== protocol.version)
  const other =
    others.find(({ version }) => version === against) ??
    others.find(({ version }) => version < protocol.version) ??
    others[0]
  if (!other) return <EmptyState title={t('compare.none')}>{t('compare.noneHint')}</EmptyState>
  const [before, after] = other.version < protocol.version ? [other, protocol] : [protocol, other]
  return (
    <div className="compare">
      <div className="definition-bar">
        <NativeSelect
          size="xs"
          aria-label={t('compare.against')}
          value={other.version}
          onChange={(event) => onAgainst(Number(event.currentTarget.value))}
        >
          {others.map(({ version, name }) => (
            <option key={version} value={version}>
              {t('compare.against')} {name}
            </option>
          ))}
        </NativeSelect>
        <span className="mono num">
          {before.name} → {after.name}
        </span>
      </div>
      <section className="compare-words" aria-label={t('compare.words')}>
        <h2>{t('compare.words')}</h2>
        <Changes before={before} after={after} />
      </section>
      <div className="compare-text">
        <h2>{t('compare.text')}</h2>
        <TextDiff before={before} after={after} />
      </div>
    </div>
  )
}

type Pair = { before: ProtocolRow; after: ProtocolRow }

function Changes({ before, after }: Pair) {
  const t = protocolsText.useText()
  const changes = useMemo(() => compareProtocols(before, after), [before, after])
  if (changes.length === 0) return <p className="mute">{t('compare.same')}</p>
  return <ChangeList changes={changes} />
}

/** Lines around a change that are shown with it. */
const context = 3

function TextDiff({ before, after }: Pair) {
  const t = protocolsText.useText()
  const hunks = useMemo(() => {
    const text = (row: ProtocolRow) => textOf(asWritten(row.definition), 'YAML')
    return structuredPatch('', '', text(before), text(after), '', '', { context }).hunks
  }, [before, after])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section className="text-diff mono" tabIndex={0} aria-label={t('compare.text')}>
      {hunks.map((hunk, index) => {
        const last = hunks[index - 1]
        const skipped = hunk.newStart - (last ? last.newStart + last.newLines : 1)
        return (
          <div key={hunk.newStart}>
            {skipped > 0 && (
              <p className="text-diff-skipped num">{t('compare.unchanged', { count: skipped })}</p>
            )}
            {hunk.lines.map((line, at) => {
              const sign = line[0]
              const text = line.slice(1)
              const spoken = sign === '+' ? 'compare.addedLine' : 'compare.removedLine'
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a hunk never move
                <div key={at} className="text-diff-line" data-sign={sign}>
                  <i aria-hidden="true">{sign}</i>
                  {sign === ' ' ? (
                    <span>{text}</span>
                  ) : (
                    <>
                      <span className="visually-hidden">{t(spoken, { text })}</span>
                      <span aria-hidden="true">{text}</span>
                    </>
                  )}
                </div>
              )
            })}
          </div>
        )
      })}
    </section>
  )
}
