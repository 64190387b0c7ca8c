// One event to many watchers: what a delivery costs the server, beside stock Yoga with graphql-ws and raw ws.
import { Api, givenProject, givenSessions, publicId } from './kit/api.mjs'
import { startChild } from './kit/children.mjs'
import { medians, percentile } from './kit/figures.mjs'
import { cpuMs } from './kit/proc.mjs'
import { withClient } from './kit/product.mjs'
import { watchSelection } from './references/shape.mjs'

const watching = 1_000
const clientProcesses = 2
const giveUpMs = 60_000

/** Watchers in processes of their own; `arrival(n)` resolves when all have the event of sequence n. */
async function openWatchers(target) {
  const waiting = new Map()
  const counts = new Map()
  const reached = new Set()
  let broken
  const clients = await Promise.all(Array.from({ length: clientProcesses }, () => startChild('watchers.mjs')))
  const ready = clients.map(
    (client) =>
      new Promise((resolve) => {
        client.onMessage((message) => {
          if (message.ready) resolve()
          if (message.broken) broken ??= message.broken
          if (message.arrived === undefined) return
          const so = (counts.get(message.arrived) ?? 0) + 1
          counts.set(message.arrived, so)
          if (so === clientProcesses) {
            reached.add(message.arrived)
            waiting.get(message.arrived)?.()
          }
        })
        client.send({ ...target, count: watching / clientProcesses })
      }),
  )
  await Promise.all(ready)
  return {
    arrival(sequence) {
      if (reached.has(sequence)) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`event ${sequence} did not reach all: ${broken}`)),
          giveUpMs,
        )
        waiting.set(sequence, () => {
          clearTimeout(timer)
          resolve()
        })
      })
    },
    check() {
      if (broken) throw new Error(`watchers got something else than every event once, in order: ${broken}`)
    },
    close: () => Promise.all(clients.map((client) => client.stop())),
  }
}

/**
 * Publishes one event after the other, each when the last has arrived everywhere, then as many at once. `publish`
 * takes payloads and resolves with the sequence of the last event.
 */
async function deliver({ pid, publish, target, events }) {
  const watchers = await openWatchers(target)
  const payload = (n) => ({
    text: `Part ${n} of an answer that comes as it is written, a few words at a time.`,
  })
  for (let n = 0; n < 30; n += 1) await watchers.arrival(await publish([payload(n)]))
  const latencies = []
  let before = cpuMs(pid)
  for (let n = 0; n < events; n += 1) {
    const from = performance.now()
    await watchers.arrival(await publish([payload(n)]))
    latencies.push(performance.now() - from)
  }
  const cpu = ((cpuMs(pid) - before) * 1000) / (events * watching)
  before = cpuMs(pid)
  await watchers.arrival(await publish(Array.from({ length: 100 }, (_, n) => payload(n))))
  const burst = ((cpuMs(pid) - before) * 1000) / (100 * watching)
  watchers.check()
  await watchers.close()
  return { cpu, burst, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

async function givenRun(product, databaseUrl) {
  const api = new Api(product.url, product.token)
  const { project, session } = await withClient(databaseUrl, async (db) => {
    const project = await givenProject(api, db, 'Fan-out')
    const [session] = await givenSessions(db, project.key, 1)
    return { project, session: publicId('ses', project.key, session) }
  })
  const { run } = await api.do('submitTurn', { sessionId: session, text: 'Go on.' }, 'run{id}')
  const { runToken } = await api.do('startRun', { runId: run.id, runtimeId: project.runtimeId }, 'runToken')
  return {
    session,
    async publish(payloads) {
      const events = payloads.map((payload) => ({ type: 'ANSWER_DELTA', payload }))
      return (await api.do('recordRunEvents', { runId: run.id, runToken, events }, 'cursor')).cursor
    },
  }
}

async function ours(product, run, events) {
  const target = {
    url: `${product.url.replace('http', 'ws')}/graphql`,
    subprotocol: 'graphql-transport-ws',
    token: product.token,
    subscribe: { query: watchSelection, variables: { id: run.session } },
  }
  return deliver({ pid: product.pid, publish: run.publish, target, events })
}

async function reference(script, events) {
  const child = await startChild(script)
  let sequence = 0
  const publish = async (payloads) => {
    const made = payloads.map((payload) => ({
      __typename: 'SessionEvent',
      id: 'evt_AZrNn3Qkc0S5bq2kq0xQ3AGazZ90JHNEuW6tpKtMUNwAAAAAAAAAAQ',
      sequence: ++sequence,
      type: 'ANSWER_DELTA',
      payload,
      at: new Date().toISOString(),
    }))
    child.send({ topic: 'one', events: made })
    return sequence
  }
  const graphql = script.includes('yoga')
  const target = {
    url: `ws://127.0.0.1:${child.first.port}${graphql ? '/graphql' : ''}`,
    ...(graphql && {
      subprotocol: 'graphql-transport-ws',
      subscribe: { query: watchSelection, variables: { id: 'one' } },
    }),
  }
  const figures = await deliver({ pid: child.pid, publish, target, events })
  await child.stop()
  return figures
}

export async function measureFanOut({ product, databaseUrl, quick, log }) {
  const events = quick ? 40 : 100
  const run = await givenRun(product, databaseUrl)
  const rounds = { ours: [], yoga: [], raw: [] }
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    rounds.ours.push(await ours(product, run, events))
    rounds.yoga.push(await reference('references/yoga.mjs', events))
    rounds.raw.push(await reference('references/raw-ws.mjs', events))
  }
  // What writing the events costs by itself, which is part of our figure and not of the references'.
  const before = cpuMs(product.pid)
  for (let n = 0; n < events; n += 1) await run.publish([{ text: `Part ${n}` }])
  const writing = ((cpuMs(product.pid) - before) * 1000) / (events * watching)
  for (const [name, figures] of Object.entries(rounds))
    log(`fan-out, ${name}: ${figures.map((r) => r.cpu.toFixed(1))} µs a delivery`)
  return {
    watching,
    events,
    writing,
    ...Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, medians(figures)])),
  }
}
