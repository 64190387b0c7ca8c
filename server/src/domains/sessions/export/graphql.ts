import { builder } from '../../../graphql/builder.ts'
import { permit } from '../../../graphql/context.ts'
import { encodeId } from '../../../platform/ids.ts'
import { SessionRef } from '../graphql.ts'
import { exportsPath } from './operations.ts'
import type { exportFormats } from './rules.ts'

const ExportFormatRef = builder.enumType('ExportFormat', {
  description: 'How a session is written down.',
  values: {
    MARKDOWN: { description: 'The transcript with run states and answers, for people.' },
    JSON: { description: 'Everything as one document.' },
    JSONL: { description: 'Everything, one record a line, each with its `kind`.' },
  } satisfies Record<(typeof exportFormats)[number], object>,
})

builder.objectField(SessionRef, 'exportPath', (t) =>
  t.string({
    description:
      'Where the export of the session is served: GET it with the same credentials. Transcript and journal as they are then, streamed. Capability: `session.export`.',
    args: {
      format: t.arg({ type: ExportFormatRef, required: true, description: 'How it is written down.' }),
    },
    resolve: ({ projectId, id }, { format }, context) => {
      permit(context, 'session.export', { projectId, sessionId: id }, 'session.read')
      return `${exportsPath}${encodeId({ type: 'Session', projectId, id })}?format=${format}`
    },
  }),
)
