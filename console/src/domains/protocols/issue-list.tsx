import { type Issue, pathWords } from './definition-check.ts'
import { protocolsText } from './text.ts'

type IssueListProps = {
  /** Names the list. */
  label: string
  issues: readonly Issue[]
  onGo: (issue: Issue) => void
}

/** A flaw in the reader's language where it has a name; else as it was said. */
export function issueWords({ code, message }: Issue): string {
  return (code && protocolsText.find(`flaws.${code}`)) || message
}

/** What is wrong with a definition, each at its place, which a click goes to. */
export function IssueList({ label, issues, onGo }: IssueListProps) {
  const t = protocolsText.useText()
  return (
    <section className="issues" aria-label={label}>
      <h2>{label}</h2>
      <ul>
        {issues.map((issue) => (
          <li key={`${issue.path.join('.')} ${issue.code} ${issue.message}`}>
            <button type="button" onClick={() => onGo(issue)}>
              <span className="mono num mute">{t('register.line', { line: issue.line })}</span>
              <span>
                {issue.path.length > 0 && <code>{pathWords(issue.path)}</code>} {issueWords(issue)}{' '}
                {issue.code && <code className="faint">{issue.code}</code>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
