import { findings } from './findings.mjs'
import { show, table } from './kit/figures.mjs'

const met = (yes) => (yes ? 'met' : '**missed**')

/** One line for each goal of the specification's table of speed, with what was measured beside it. */
function goals({ turns, fanOut, nested, catchUp, pages, start, console }) {
  const rows = []
  const row = (key, work, ours, reference, goal, yes) =>
    rows.push({ key, yes, cells: [work, ours, reference, goal, met(yes)] })
  for (const { name, ours, floor } of turns ?? []) {
    const ratio = ours.perSecond / floor.perSecond
    row(
      'turns',
      name,
      `${show(ours.perSecond)} /s`,
      `${show(floor.perSecond)} /s as one raw statement`,
      `≥ 0.5 ×: ${show(ratio)} ×`,
      ratio >= 0.5,
    )
  }
  if (fanOut) {
    const { ours, yoga, raw, watching, events } = fanOut
    const reference = `${show(yoga.cpu)} µs stock Yoga + graphql-ws; ${show(raw.cpu)} µs raw ws`
    const work = `one event to ${show(watching)} graphql-ws watchers, ${events} events: server CPU a delivery`
    row('fanOut', work, `${show(ours.cpu)} µs`, reference, '≤ 20 µs', ours.cpu <= 20)
  }
  if (nested) {
    const ratio = nested.ours.cpu / nested.mercurius.cpu
    const work = 'nested query (session, 20 events, actor): server CPU a request'
    row(
      'nested',
      work,
      `${show(nested.ours.cpu)} ms`,
      `${show(nested.mercurius.cpu)} ms Mercurius from memory`,
      `≤ 1.5 ×: ${show(ratio)} ×`,
      ratio <= 1.5,
    )
  }
  if (catchUp) {
    const ratio = catchUp.ours.perSecond / catchUp.floor.perSecond
    const work = `one watcher ${show(catchUp.behind)} events behind`
    row(
      'catchUp',
      work,
      `${show(catchUp.ours.perSecond)} events/s`,
      `${show(catchUp.floor.perSecond)} /s raw paged SELECT`,
      `≥ 0.5 ×: ${show(ratio)} ×`,
      ratio >= 0.5,
    )
  }
  for (const [list, large] of Object.entries(pages?.large.lists ?? {})) {
    const small = pages.small.lists[list]
    const ratio = large.p50 / small.p50
    const work = `first page of ${list}, ${show(pages.large.count)} rows: in the database`
    row(
      'pages',
      work,
      `${show(large.p50)} ms, p99 ${show(large.p99)} ms`,
      `${show(small.p50)} ms at ${show(pages.small.count)}`,
      `≤ 1.3 ×: ${show(ratio)} ×; p99 < 25 ms`,
      ratio <= 1.3 && large.p99 < 25,
    )
  }
  if (start) {
    const memory = start.memory.server.pss + start.memory.postgres.pss
    row(
      'start',
      'embedded start to ready, existing data',
      `${show(start.serverMs)} ms`,
      `${show(start.postgresMs)} ms PostgreSQL alone`,
      '≤ 1.5 s',
      start.serverMs <= 1500,
    )
    row(
      'memory',
      'idle memory of server and PostgreSQL',
      `${show(memory)} MiB`,
      '–',
      '≤ 250 MB',
      memory * 1.048576 <= 250,
    )
  }
  if (console)
    row(
      'console',
      'console, first load, gzip',
      `${show(console.script)} KiB script + ${show(console.style)} KiB style`,
      '–',
      '≤ 300 KiB',
      console.script + console.style <= 300,
    )
  return rows
}

const details = {
  turns: (turns) => [
    '## Turns and events',
    'Over HTTP on open connections; the floor is one prepared statement that writes the same rows, on as many connections, in turn with ours. CPU in ms per operation.',
    table(
      [
        'work',
        'per second',
        'p50 ms',
        'p99 ms',
        'server CPU',
        'PostgreSQL CPU',
        'floor per second',
        'p50 ms',
        'p99 ms',
        'PostgreSQL CPU',
      ],
      turns.map(({ name, ours, floor }) => [
        name,
        ours.perSecond,
        ours.p50,
        ours.p99,
        ours.serverCpu,
        ours.postgresCpu,
        floor.perSecond,
        floor.p50,
        floor.p99,
        floor.postgresCpu,
      ]),
    ),
  ],
  fanOut: ({ ours, yoga, raw, writing }) => [
    '## Fan-out',
    `Watchers on connections of their own, in other processes; each event follows when the last has arrived at all of them; all arrived, once and in order. Ours contains the commit of each event through the API, which by itself costs ${show(writing)} µs a delivery; the references are handed theirs in memory.`,
    table(
      ['', 'CPU µs a delivery', 'arrived at all, p50 ms', 'p99 ms', '100 events at once: CPU µs a delivery'],
      Object.entries({ Wheelhouse: ours, 'stock Yoga + graphql-ws': yoga, 'raw ws': raw }).map(
        ([name, f]) => [name, f.cpu, f.p50, f.p99, f.burst],
      ),
    ),
  ],
  nested: ({ ours, mercurius, mercuriusJit }) => [
    '## Nested query',
    'Four at a time over HTTP. Ours authenticates its caller and reads PostgreSQL; Mercurius answers from memory without a caller.',
    table(
      ['', 'server CPU ms', 'PostgreSQL CPU ms', 'per second', 'p50 ms', 'p99 ms', 'bytes'],
      Object.entries({ Wheelhouse: ours, Mercurius: mercurius, 'Mercurius, jit: 1': mercuriusJit }).map(
        ([name, f]) => [name, f.cpu, f.postgresCpu, f.perSecond, f.p50, f.p99, f.bytes],
      ),
    ),
  ],
  catchUp: ({ ours, floor, page, behind }) => [
    '## Catching up',
    `${show(behind)} events over graphql-ws, beside a SELECT of ${page} rows a page.`,
    table(
      ['', 'events/s', 'seconds', 'server CPU µs an event'],
      [
        ['Wheelhouse', ours.perSecond, ours.seconds, ours.cpu],
        ['raw paged SELECT', floor.perSecond, floor.seconds, '–'],
      ],
    ),
  ],
  pages: ({ small, large }) => [
    '## First pages',
    'The time PostgreSQL logs for the statement that reads the page (parse, plan, execute), as the API sends it; in databases of their own.',
    table(
      [
        'list',
        `p50 ms at ${show(small.count)}`,
        'p99 ms',
        'request p50 ms',
        `p50 ms at ${show(large.count)}`,
        'p99 ms',
        'request p50 ms',
      ],
      Object.keys(small.lists).map((list) => [
        list,
        ...[small, large].flatMap(({ lists: { [list]: f } }) => [f.p50, f.p99, f.request]),
      ]),
    ),
  ],
  start: ({ serverMs, commandMs, postgresMs, memory }) => [
    '## Start and memory',
    table(
      ['start with existing data', 'median ms'],
      [
        ['the server, from its spawn to its first ready answer', serverMs],
        ['the same through `server/start.mjs`, which looks whether anything must be built', commandMs],
        ['PostgreSQL alone, from its spawn to its first statement', postgresMs],
      ],
    ),
    table(
      ['idle', 'PSS MiB', 'RSS MiB'],
      [
        ['server', memory.server.pss, memory.server.rss],
        ['PostgreSQL, all processes', memory.postgres.pss, memory.postgres.rss],
      ],
    ),
  ],
  console: ({ script, style, files }) => [
    '## Console',
    `${files} files before anything shows: ${show(script)} KiB script, ${show(style)} KiB style, gzip.`,
  ],
}

export function report(results) {
  const { at, form, machine, loadBefore, commit, postgres, node, versions, seconds } = results.circumstances
  const rows = goals(results)
  const missed = [...new Set(rows.filter((row) => !row.yes).map((row) => row.key))]
  const parts = [
    '# Results of `pnpm bench`',
    `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${form} form, ${show(seconds)} s. Commit ${commit}. ${machine}; load average before: ${loadBefore.toFixed(1)}. Node ${node}; PostgreSQL ${postgres.version}, fsync ${postgres.fsync}, synchronous_commit ${postgres.commit}; ${Object.entries(
      versions,
    )
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    'Figures are medians of several rounds. Times move with the machine: read the ratios, which are of this run.',
    '## Goals',
    table(
      ['work', 'Wheelhouse', 'beside it', 'goal', ''],
      rows.map((row) => row.cells),
    ),
    ...(missed.length > 0 ? ['## What stands between', ...missed.map((key) => `- ${findings[key]}`)] : []),
    ...Object.entries(details).flatMap(([key, make]) => (results[key] ? make(results[key]) : [])),
  ]
  return `${parts.join('\n\n').replaceAll('\n\n- ', '\n- ')}\n`
}
