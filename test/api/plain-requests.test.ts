import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../kit/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

const json = 'application/json'
const response = 'application/graphql-response+json'

/** Everything that is answered but the time of day. */
async function answer(body: string | Buffer, accept: string) {
  const answered = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.owner.token}`, 'content-type': json, accept },
    body: new Uint8Array(Buffer.from(body)),
  })
  const { date: _, ...headers } = Object.fromEntries(answered.headers)
  return { status: answered.status, headers, text: await answered.text() }
}

const operation = (query: string, more: object = {}) => JSON.stringify({ query, ...more })
const bodies: Record<string, string | Buffer> = {
  'a query': operation('{viewer{principal{id name}}}'),
  'a query with variables': operation('query($id:ID!){session(id:$id){id}}', { variables: { id: 'ses_x' } }),
  'a query of several names': operation('query A{__typename} query B{viewer{channel}}', {
    operationName: 'B',
  }),
  'a query with the types asked for': operation('{__schema{queryType{name}}}'),
  'a mutation that is refused as data': operation(
    'mutation{createProject(input:{name:""}){__typename ...on Problem{code message}}}',
  ),
  'a query that fails in a field': operation('{session(id:"nothing"){id}}'),
  'a variable of the wrong type': operation('query($first:Int){projects(first:$first){nodes{id}}}', {
    variables: { first: 'many' },
  }),
  'a variable that is missing': operation('query($id:ID!){session(id:$id){id}}'),
  'an unknown field': operation('{nothing}'),
  'an operation that costs too much': operation(
    `{sessions(projectId:"prj_x",first:100){nodes{${Array.from({ length: 11 }, (_, n) => `a${n}:messages(first:1){nodes{id}}`).join(' ')}}}}`,
  ),
  'a subscription': operation('subscription{sessionEvents(sessionId:"ses_x"){__typename}}'),
  'a name that is empty': operation('{__typename}', { operationName: '' }),
  'an unknown parameter': operation('{__typename}', { more: 1 }),
  'an unknown parameter that is null': operation('{__typename}', { more: null }),
  'extensions that are a text': operation('{__typename}', { extensions: 'none' }),
  'extensions that are a list': operation('{__typename}', { extensions: [] }),
  'extensions that nobody knows': operation('{__typename}', { extensions: { more: { deep: 1 } } }),
  'a byte order mark': `\ufeff${operation('{__typename}')}`,
  'bytes that are no text': Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  'a text with a byte that is none': Buffer.concat([
    Buffer.from('{"query":"{__typename}","operationName":"'),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ]),
  'a syntax error': operation('{'),
  'a document that is too deep': operation(`${'{a'.repeat(40)}${'}'.repeat(40)}`),
  'variables nested deeper than anything is read': `{"query":"mutation($input:RecordRunEventsInput!){recordRunEvents(input:$input){__typename ...on Problem{code message}}}","variables":{"input":{"runId":"run_x","runToken":"x","events":[{"type":"INFO","payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}}}`,
  'lists in a document nested deeper than anything is read': operation(
    `{session(id:${'['.repeat(1_500)}${']'.repeat(1_500)}){id}}`,
  ),
  'no operation of that name': operation('query A{__typename}', { operationName: 'B' }),
  'several operations and no name': operation('query A{__typename} query B{__typename}'),
  'a document without an operation': operation('fragment F on Query{__typename}'),
  'no query': '{}',
  'a query that is a number': '{"query":1}',
  'variables that are a list': operation('{__typename}', { variables: [] }),
  'a list of operations': '[{"query":"{__typename}"}]',
  'JSON that is null': 'null',
  'no JSON': 'hello',
  'an empty body': '',
}

describe('The short way for plain requests answers like the engine', () => {
  // The weight says what is the default anyway, but only the engine reads it.
  for (const [short, engine] of [
    [json, `${json};q=1`],
    [response, `${response};q=1`],
    [`${response}, ${json}`, `${response};q=1, ${json};q=0.9`],
    ['*/*', '*/*;q=1'],
  ] as const)
    test.each(Object.entries(bodies))(`${short}: %s`, async (_name, body) => {
      expect(await answer(body, short)).toEqual(await answer(body, engine))
    })
})
