import { changeOf } from './revision-change.ts'
import type { RevisionView } from './task-queries.ts'
import { taskText } from './text.ts'

/** What one revision changed against another, in one paragraph. Loaded only where a history is shown. */
export function RevisionDiff({ before, after }: { before: RevisionView; after: RevisionView }) {
  const t = taskText.useText()
  const { newTask, words, protocol, added, removed } = changeOf(before, after)
  if (newTask)
    return (
      <p className="task-diff">
        <span className="mute">{t('diff.newTask')}</span> <ins dir="auto">{after.text}</ins>
      </p>
    )
  if (!words && !protocol && added.length + removed.length === 0)
    return <p className="task-diff mute">{t('diff.same')}</p>
  return (
    <div className="task-diff">
      {words && (
        <p dir="auto">
          {words.map(({ text, change }, index) => {
            const Part = change === 'added' ? 'ins' : change === 'removed' ? 'del' : 'span'
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change places
            return <Part key={index}>{text}</Part>
          })}
        </p>
      )}
      {removed.map(({ id, text }) => (
        <p key={id}>
          <del dir="auto">− {text}</del>
        </p>
      ))}
      {added.map(({ id, text }) => (
        <p key={id}>
          <ins dir="auto">+ {text}</ins>
        </p>
      ))}
      {protocol && (
        <p>
          <del>{protocol.from}</del> → <ins>{protocol.to}</ins>
        </p>
      )}
    </div>
  )
}
