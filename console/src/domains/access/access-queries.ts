import { graphql, ProblemFields, type ResultOf } from '../../data/graphql.ts'

export const GrantFields = graphql(`
  fragment GrantFields on Grant @_unmask {
    id capabilities createdAt revokedAt
    createdBy { id name }
    project { id slug name }
    session { id title }
  }
`)
export const TokenFields = graphql(
  `
    fragment TokenFields on Token @_unmask {
      id name prefix createdAt expiresAt lastUsedAt revokedAt
      principal { id name kind }
      createdBy { id name }
      grants { ...GrantFields }
      allowedActions { action allowed reason }
    }
  `,
  [GrantFields],
)
export const PrincipalFields = graphql(
  `
    fragment PrincipalFields on Principal @_unmask {
      id kind name email createdAt disabledAt
      tokens { ...TokenFields }
      grants { ...GrantFields }
      allowedActions { action allowed reason }
    }
  `,
  [TokenFields, GrantFields],
)
export const Principals = graphql(
  `
    query Principals($after: String) {
      principals(first: 50, after: $after) {
        nodes { ...PrincipalFields }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [PrincipalFields],
)
export const Capabilities = graphql(`
  query Capabilities {
    capabilities { name family description writes scopes }
  }
`)
export const GrantableProjects = graphql(`
  query GrantableProjects {
    projects(first: 100) { nodes { id slug name } }
  }
`)
export const CreatePrincipal = graphql(
  `
    mutation CreatePrincipal($input: CreatePrincipalInput!) {
      createPrincipal(input: $input) {
        __typename
        ... on CreatePrincipalSuccess { principal { id name } signInUrl }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
export const CreateToken = graphql(
  `
    mutation CreateToken($input: CreateTokenInput!) {
      createToken(input: $input) {
        __typename
        ... on CreateTokenSuccess { secret token { id name } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields],
)
export const RevokeToken = graphql(
  `
    mutation RevokeToken($input: RevokeTokenInput!) {
      revokeToken(input: $input) {
        __typename
        ... on RevokeTokenSuccess { token { ...TokenFields } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields, TokenFields],
)
export const GrantAccess = graphql(
  `
    mutation GrantAccess($input: GrantAccessInput!) {
      grantAccess(input: $input) {
        __typename
        ... on GrantAccessSuccess { grant { id principal { ...PrincipalFields } } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields, PrincipalFields],
)
export const RevokeGrant = graphql(
  `
    mutation RevokeGrant($input: RevokeGrantInput!) {
      revokeGrant(input: $input) {
        __typename
        ... on RevokeGrantSuccess { grant { id principal { ...PrincipalFields } } }
        ...ProblemFields
      }
    }
  `,
  [ProblemFields, PrincipalFields],
)
export type PrincipalRow = ResultOf<typeof PrincipalFields>
export type TokenRow = ResultOf<typeof TokenFields>
export type GrantRow = ResultOf<typeof GrantFields>
