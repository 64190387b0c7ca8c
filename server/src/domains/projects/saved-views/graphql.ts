import { builder, nodeKey, unspell } from '../../../graphql/builder.ts'
import { command } from '../../../graphql/command.ts'
import { type Context, permit, viewerOf } from '../../../graphql/context.ts'
import { input } from '../../../graphql/fields.ts'
import { found, refOf } from '../../../graphql/found.ts'
import { encodeId, type NodeRef } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/refusal.ts'
import { textIssues } from '../../../platform/text.ts'
import { PrincipalRef } from '../../access/principals/graphql.ts'
import { loadSavedViews, type SavedViewRow, savedViewsFor, saveView, seesView } from '../operations.ts'
import { savedViewLimits } from '../rules.ts'

/** The view that an id names, for a caller that may use it; else null. */
async function savedViewNode(ref: NodeRef, context: Context): Promise<SavedViewRow | null> {
  const viewer = viewerOf(context)
  const [view] = await loadSavedViews(context.app.db, [{ projectId: ref.projectId ?? '', id: ref.id }])
  return view && seesView(viewer, view) ? view : null
}

const SavedViewRef = builder.objectRef<SavedViewRow>('SavedView')

builder.node(SavedViewRef, {
  description: 'Filters, columns and order of a screen under a name. It fills only an empty URL.',
  id: { resolve: ({ projectId, id }) => nodeKey({ projectId, id }) },
  loadWithoutCache: (key, context) => found(savedViewNode(unspell('SavedView', key), context)),
  fields: (t) => ({
    screen: t.exposeString('screen', { description: 'The screen that it belongs to.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    state: t.expose('state', {
      type: 'JSON',
      description: 'What the screen shows, in the screen’s own words.',
    }),
    shared: t.exposeBoolean('shared', { description: 'Whether everybody in the project may use it.' }),
    owner: t.field({
      type: PrincipalRef,
      description: 'Whose it is.',
      resolve: (view, _args, context) => found(context.loaders.principal.load(view.ownerId)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first kept.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last kept.' }),
  }),
})

builder.queryField('savedViews', (t) =>
  t.field({
    type: [SavedViewRef],
    description:
      'Your own views of a screen and those that others share, by name. Capability: `project.read`.',
    args: {
      projectId: t.arg.id({ required: true, description: 'The project.' }),
      screen: t.arg.string({
        required: true,
        description: `The screen. At most ${savedViewLimits.screen} characters.`,
      }),
    },
    resolve: (_root, args, context) => {
      const { id: projectId } = refOf('Project', args.projectId)
      const viewer = permit(context, 'project.read', { projectId })
      if ([...args.screen].length > savedViewLimits.screen || textIssues(args.screen).length > 0) {
        throw invalid('screen', `must be plain text of at most ${savedViewLimits.screen} characters`)
      }
      return savedViewsFor(context.app.db, viewer, projectId, args.screen)
    },
  }),
)

interface SaveViewSuccess {
  projectId: string
  viewId: string | null
  deletedId: string | null
}

command('saveView', {
  description:
    'Keeps the state of a screen under a name, changes the view named by `viewId` (or your own of that name), or deletes it.',
  input: {
    projectId: input.id('Project', 'The project.', true),
    screen: input.text('The screen.', { max: savedViewLimits.screen }, true),
    name: input.text('The view’s name, yours alone on this screen.', { max: savedViewLimits.name }, true),
    state: input.json(`What the screen shows. At most ${savedViewLimits.stateBytes} bytes.`, true),
    shared: input.boolean('Whether everybody in the project may use it. Not, when absent at first.'),
    viewId: input.id('SavedView', 'The view to change or to delete.'),
    delete: input.boolean('Deletes the view instead.'),
    idempotencyKey: input.key(),
  },
  success: builder.objectRef<SaveViewSuccess>('SaveViewSuccess').implement({
    description: 'The view is kept, or gone.',
    fields: (t) => ({
      view: t.field({
        type: SavedViewRef,
        nullable: true,
        description: 'The view; null when it was deleted.',
        resolve: ({ projectId, viewId }, _args, context) =>
          viewId === null ? null : savedViewNode({ type: 'SavedView', projectId, id: viewId }, context),
      }),
      deletedId: t.id({
        nullable: true,
        description: 'The id of the view that was deleted.',
        resolve: ({ projectId, deletedId }) =>
          deletedId && encodeId({ type: 'SavedView', projectId, id: deletedId }),
      }),
    }),
  }),
  permission: { capability: 'project.read', scope: ({ projectId }) => ({ projectId: projectId.id }) },
  run: async (call, { projectId, viewId, idempotencyKey: _, ...view }, { app }) => {
    const outcome = await saveView(app, call, { projectId: projectId.id, view: viewId, ...view })
    return { projectId: projectId.id, ...outcome }
  },
})
