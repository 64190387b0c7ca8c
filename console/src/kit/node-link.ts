import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { graphql, type ResultOf } from '../data/graphql.ts'

/** What is needed to know where a record is shown; spread it on any `Node`. */
export const NodeLinkFields = graphql(`
  fragment NodeLinkFields on Node @_unmask {
    __typename
    id
    ... on Project { slug name }
    ... on Session { title project { id slug } }
    ... on Run { number session { id title project { id slug } } }
    ... on Approval { approvalTitle: title session { id title project { id slug } } }
    ... on Message { sequence session { id title project { id slug } } }
    ... on RouteDecision { routedSession: session { id title project { id slug } } }
    ... on Principal { name }
    ... on Token { name }
    ... on InboxItem { inboxTitle: title project { id slug } }
  }
`)
export type LinkedNode = ResultOf<typeof NodeLinkFields>
export type NodeAddress = { label: string; go: () => Promise<void> }

/** Where a record is shown and what to call the link; undefined for what has no page. */
export function useNodeAddress(): (node: LinkedNode) => NodeAddress | undefined {
  const navigate = useNavigate()
  return useCallback(
    (node) => {
      const session = (id: string, slug: string, event?: number) => () =>
        navigate({
          to: '/p/$slug/sessions/$sessionId',
          params: { slug, sessionId: id },
          search: event === undefined ? {} : { event },
        })
      switch (node.__typename) {
        case 'Project':
          return {
            label: node.name,
            go: () => navigate({ to: '/p/$slug/inbox', params: { slug: node.slug } }),
          }
        case 'Session':
          return { label: node.title, go: session(node.id, node.project.slug) }
        case 'Run':
          return {
            label: `${node.session.title} · ${node.number}`,
            go: session(node.session.id, node.session.project.slug),
          }
        case 'Approval':
          return { label: node.approvalTitle, go: session(node.session.id, node.session.project.slug) }
        case 'Message':
          return {
            label: node.session.title,
            go: session(node.session.id, node.session.project.slug, node.sequence),
          }
        case 'RouteDecision':
          return {
            label: node.routedSession.title,
            go: () =>
              navigate({
                to: '/p/$slug/routing',
                params: { slug: node.routedSession.project.slug },
                search: { decision: node.id },
              }),
          }
        case 'InboxItem':
          return {
            label: node.inboxTitle,
            go: () => navigate({ to: '/p/$slug/inbox', params: { slug: node.project.slug } }),
          }
        case 'Principal':
          return { label: node.name, go: () => navigate({ to: '/access', search: { principal: node.id } }) }
        case 'Token':
          return {
            label: node.name,
            go: () => navigate({ to: '/access', search: { tab: 'tokens', token: node.id } }),
          }
        default:
          return undefined
      }
    },
    [navigate],
  )
}
