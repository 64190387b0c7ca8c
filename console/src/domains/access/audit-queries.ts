import { graphql, type ResultOf } from '../../data/graphql.ts'
import { NodeLinkFields } from '../../kit/node-link.ts'

export const AuditFields = graphql(
  `
    fragment AuditFields on AuditEntry @_unmask {
      id at action subjectType subjectId reason channel detail
      actor { id name kind }
      project { id slug name }
      subject { ...NodeLinkFields }
    }
  `,
  [NodeLinkFields],
)
export const AuditLog = graphql(
  `
    query AuditLog($projectId: ID, $filter: AuditFilter, $after: String) {
      auditLog(projectId: $projectId, filter: $filter, first: 100, after: $after) {
        nodes { ...AuditFields }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [AuditFields],
)
export const AuditExport = graphql(`
  query AuditExport($projectId: ID, $filter: AuditFilter) {
    auditExportPath(projectId: $projectId, filter: $filter)
  }
`)
export const AuditActors = graphql(`
  query AuditActors {
    principals(first: 100) { nodes { id name } }
  }
`)
export type AuditRow = ResultOf<typeof AuditFields>
