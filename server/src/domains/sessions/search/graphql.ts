import { builder } from '../../../graphql/builder.ts'
import { connectionType, forwardArgs, pageCost } from '../../../graphql/connection.ts'
import { permit, viewerOf } from '../../../graphql/context.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { connectionOf, isTimeKey, pageRequest } from '../../../graphql/page.ts'
import { invalid } from '../../../platform/refusal.ts'
import { textIssues } from '../../../platform/text.ts'
import { sessionsWith } from '../../access/rules.ts'
import { MessageRef, SessionRef } from '../graphql.ts'
import { type Hit, type HitKey, searchTranscripts } from './operations.ts'
import { type Span, searchLimits, snippetLength } from './rules.ts'

const TextSpanRef = builder.objectRef<Span>('TextSpan').implement({
  description: 'Part of a text, in UTF-16 units.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Where it begins.' }),
    end: t.exposeInt('end', { description: 'Where it has ended.' }),
  }),
})

const TranscriptHitRef = builder.objectRef<Hit>('TranscriptHit').implement({
  description: 'A message that holds the words.',
  fields: (t) => ({
    message: t.field({ type: MessageRef, description: 'The message.', resolve: (hit) => hit }),
    session: t.field({
      type: SessionRef,
      description: 'Its session.',
      resolve: ({ projectId, sessionId: id }, _args, { loaders }) =>
        found(loaders.session.load({ projectId, id })),
    }),
    rank: t.exposeFloat('rank', { description: 'How well it fits; only the order means something.' }),
    snippet: t.exposeString('snippet', {
      description: `The text around the first hit, at most ${snippetLength} UTF-16 units. Untrusted text.`,
    }),
    highlights: t.field({
      type: [TextSpanRef],
      description: 'Where the words are in the snippet, in order, none over another.',
      resolve: (hit) => hit.highlights,
    }),
  }),
})

const isHitKey = (key: unknown[]): key is HitKey => {
  const [rank, ...rest] = key
  return typeof rank === 'number' && Number.isFinite(rank) && Math.abs(rank) < 1e30 && isTimeKey(rest)
}

const TranscriptHitConnection = connectionType('TranscriptHit', TranscriptHitRef)

builder.queryField('searchTranscripts', (t) =>
  t.field({
    type: TranscriptHitConnection,
    description:
      'Messages of the sessions that you can see that hold all the words, best first, then newest. Words are cut as in the index, Chinese ones by dictionary; the last may be the beginning of a word. Capability: `session.read`.',
    args: {
      projectId: t.arg.id({ required: true, description: 'The project.' }),
      text: t.arg.string({
        required: true,
        description: `The words. At most ${searchLimits.characters} characters and ${searchLimits.words} words.`,
      }),
      ...forwardArgs,
    },
    complexity: pageCost,
    resolve: async (_root, args, context) => {
      const { id: projectId } = refOf('Project', args.projectId)
      const visible = sessionsWith(viewerOf(context), 'session.read', projectId)
      if (visible !== 'all' && visible.length === 0) permit(context, 'session.read', { projectId })
      if (textIssues(args.text).length > 0)
        throw invalid('text', 'must be text without NUL and lone surrogates')
      const request = pageRequest(args, isHitKey)
      const hits = await searchTranscripts(context.app.db, projectId, visible, args.text, request)
      return connectionOf(hits, request, (hit) => [hit.rank, hit.at.toISOString(), hit.id])
    },
  }),
)
