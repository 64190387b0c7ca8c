import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { usePages } from '../../data/pages.ts'
import { EmptyState, FailedState } from '../../kit/empty-state.tsx'
import { kitText } from '../../kit/text.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { highlighted } from './sessions-filter.ts'
import { TranscriptSearch } from './sessions-query.ts'
import { sessionText } from './text.ts'

type TranscriptHitsProps = { projectId: string; slug: string; text: string }

/** Messages that match, best first, each with the place where it was said. */
export function TranscriptHits({ projectId, slug, text }: TranscriptHitsProps) {
  const t = sessionText.useText()
  const words = kitText.useText()
  const pages = usePages(TranscriptSearch, { projectId, text }, ({ searchTranscripts }) => ({
    pageInfo: searchTranscripts.pageInfo,
    nodes: searchTranscripts.nodes.map((hit) => ({ ...hit, id: hit.message.id })),
  }))
  if (pages.problem) return <FailedState problem={pages.problem} onRetry={() => void pages.refresh()} />
  if (!pages.loading && pages.rows.length === 0) return <EmptyState title={t('list.noHits')} />
  return (
    <section className="page-body" aria-label={t('list.hits')} aria-busy={pages.loading}>
      <ul className="hits">
        {pages.rows.map((hit) => (
          <li key={hit.id}>
            <div className="hit-head">
              <Link
                className="hit-link"
                to="/p/$slug/sessions/$sessionId"
                params={{ slug, sessionId: hit.session.id }}
                search={{ event: hit.message.sequence }}
              >
                {hit.session.title}
              </Link>
              <span className="mute">
                {hit.message.author.name} · {t(`transcript.authority.${hit.message.authority}`)} ·{' '}
                <Timestamp at={hit.message.at} />
              </span>
            </div>
            <p className="hit-text" dir="auto">
              {highlighted(hit.snippet, hit.highlights).map((part) =>
                part.hit ? <mark key={part.at}>{part.text}</mark> : <span key={part.at}>{part.text}</span>,
              )}
            </p>
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <Button
          className="hits-more"
          size="compact-xs"
          variant="default"
          loading={pages.loadingMore}
          onClick={pages.loadMore}
        >
          {words('loadMore')}
        </Button>
      )}
    </section>
  )
}
