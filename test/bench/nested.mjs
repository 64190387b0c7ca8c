// A nested query over HTTP: ours with authentication and PostgreSQL behind it, Mercurius from memory.
import { Api, givenProject, givenSessions, publicId } from './kit/api.mjs'
import { startChild } from './kit/children.mjs'
import { load, medians } from './kit/figures.mjs'
import { countPostgres, cpuMs } from './kit/proc.mjs'
import { withClient } from './kit/product.mjs'
import { nestedQuery } from './references/shape.mjs'

async function ask(pid, api, body, count, directory) {
  const expected = (await api.send(body)).length
  const postgres = directory && countPostgres(directory)
  const before = cpuMs(pid)
  const figures = await load(4, count, async () => {
    const answer = await api.send(body)
    if (answer.length !== expected) throw new Error(`another answer than before: ${answer.slice(0, 300)}`)
  })
  return {
    ...figures,
    cpu: (cpuMs(pid) - before) / count,
    postgresCpu: postgres ? postgres() / count : 0,
    bytes: expected,
  }
}

export async function measureNested({ product, directory, databaseUrl, quick, log }) {
  const api = new Api(product.url, product.token)
  const sessionId = await withClient(databaseUrl, async (db) => {
    const project = await givenProject(api, db, 'Nested')
    const [session] = await givenSessions(db, project.key, 1)
    return publicId('ses', project.key, session)
  })
  for (let n = 0; n < 22; n += 1)
    await api.do('renameSession', { sessionId, title: `Session renamed ${n}` }, 'session{id}')
  const plain = await startChild('references/mercurius.mjs')
  const compiled = await startChild('references/mercurius.mjs', '--jit')
  const body = JSON.stringify({ query: nestedQuery, variables: { id: sessionId } })
  const subjects = {
    ours: { pid: product.pid, api, directory },
    mercurius: { pid: plain.pid, api: new Api(`http://127.0.0.1:${plain.first.port}`) },
    mercuriusJit: { pid: compiled.pid, api: new Api(`http://127.0.0.1:${compiled.first.port}`) },
  }
  const count = quick ? 500 : 2_000
  const rounds = { ours: [], mercurius: [], mercuriusJit: [] }
  for (const { pid, api: each } of Object.values(subjects)) await ask(pid, each, body, 500)
  for (let round = 0; round < (quick ? 1 : 3); round += 1)
    for (const [name, { pid, api: each, directory: own }] of Object.entries(subjects))
      rounds[name].push(await ask(pid, each, body, count, own))
  for (const { api: each } of Object.values(subjects)) each.close()
  await Promise.all([plain.stop(), compiled.stop()])
  for (const [name, figures] of Object.entries(rounds))
    log(`nested query, ${name}: ${figures.map((r) => r.cpu.toFixed(2))} ms CPU`)
  return Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, medians(figures)]))
}
