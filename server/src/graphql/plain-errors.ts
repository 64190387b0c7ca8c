import { GraphQLError, type GraphQLErrorExtensions } from 'graphql'

const longest = 300

/**
 * GraphQL's own errors with the one code that they all have, and without the values that its messages repeat: what was
 * sent may be a secret in the wrong field, and may be a megabyte.
 */
export function plainError(error: GraphQLError): GraphQLError {
  const message = withoutValues(error)
  return new GraphQLError(message.length > longest ? `${message.slice(0, longest)}…` : message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...withoutOriginal(error.extensions), code: 'GRAPHQL_INVALID' },
  })
}

/** The library shows the JSON parser's own words, which quote the body. */
function withoutOriginal({ originalError: _, ...extensions }: GraphQLErrorExtensions) {
  return extensions
}

function withoutValues(error: GraphQLError): string {
  const { message, originalError } = error
  const variable = /^Variable "\$\w+" got invalid value /.exec(message)?.[0]
  if (variable && originalError && message.endsWith(`; ${originalError.message}`)) {
    const between = message.slice(variable.length, -originalError.message.length - 2)
    // The place is written by the library behind the value, in which every quote is escaped.
    const place = / at "[\w.[\]]+"$/.exec(between)?.[0] ?? ''
    return `${variable.trimEnd()}${place}; ${about(originalError.message)}`
  }
  return about(message)
}

/** What is wrong, up to where the value begins. */
const about = (message: string) =>
  message
    .replace(/(cannot represent [\w -]*value): [\s\S]*/, '$1.')
    .replace(/^Value [\s\S]* does not exist in ("\w+" enum)[\s\S]*/, 'The value does not exist in $1.')
    .replace(/^(Expected value of type "[^"]*"), found [\s\S]*/, '$1.')
