import { diffWords } from 'diff'

interface Compared {
  taskId: string
  text: string
  protocol: string
  requirements: readonly { id: string; text: string }[]
}
export interface WordPart {
  text: string
  change: 'added' | 'removed' | 'kept'
}
/** What a revision changed against the one before it. */
export interface RevisionChange {
  newTask: boolean
  /** Null where the words are the same. */
  words: WordPart[] | null
  protocol: { from: string; to: string } | null
  added: { id: string; text: string }[]
  removed: { id: string; text: string }[]
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Text by words, of any language; requirements by their identity, whatever their place in the list. */
export function changeOf(before: Compared, after: Compared): RevisionChange {
  const [had, has] = [before, after].map(({ requirements }) => new Set(requirements.map(({ id }) => id)))
  const parts = diffWords(before.text, after.text, { intlSegmenter: words })
  return {
    newTask: before.taskId !== after.taskId,
    words:
      before.text === after.text
        ? null
        : parts.map(({ value, added, removed }) => ({
            text: value,
            change: added ? 'added' : removed ? 'removed' : 'kept',
          })),
    protocol: before.protocol === after.protocol ? null : { from: before.protocol, to: after.protocol },
    added: after.requirements.filter(({ id }) => !had?.has(id)),
    removed: before.requirements.filter(({ id }) => !has?.has(id)),
  }
}
