import type { Problem } from '../data/outcome.ts'
import { kitText } from './text.ts'
import './problem-notice.css'

/**
 * A refusal in the reader's language: the known code's sentence first, then the server's own words
 * where they say more (a CONFLICT names what is there now).
 */
export function useProblemText(problem: Problem): { title: string; detail: string | undefined } {
  kitText.useText()
  const known = kitText.find(`problem.codes.${problem.code}`)
  return {
    title: known ?? problem.message,
    detail: known && problem.code !== 'NETWORK' ? problem.message : undefined,
  }
}

/** Shown beside the command that was refused. */
export function ProblemNotice({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null
  return <Notice problem={problem} />
}

function Notice({ problem }: { problem: Problem }) {
  const t = kitText.useText()
  const { title, detail } = useProblemText(problem)
  return (
    <div className="problem-notice" role="alert">
      <p className="problem-notice-title">{title}</p>
      {detail && (
        <p className="mute" lang="en">
          {detail}
        </p>
      )}
      {problem.issues?.map((issue) => (
        <p key={`${issue.path.join('.')} ${issue.message}`}>
          <code>{issue.path.at(-1)}</code> {issue.message}
        </p>
      ))}
      {problem.retryAfterMs != null && (
        <p>{t('problem.retryAfter', { seconds: Math.ceil(problem.retryAfterMs / 1000) })}</p>
      )}
      <p className="mute">{t('problem.reference', { code: problem.code })}</p>
    </div>
  )
}

/** The message of one field, for the `error` property of an input. */
export const issueOf = (problem: Problem | undefined, field: string): string | undefined =>
  problem?.issues?.find(({ path }) => path.at(-1) === field)?.message
