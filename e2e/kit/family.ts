import type { Project } from './test.ts'

/** A session with five answers, forks of two places and of a run, and a fork of a fork; gives the first one's id. */
export async function givenFamily(project: Project): Promise<string> {
  const { api } = project
  const root = await project.session('Coffee imports by port')
  const runs: string[] = []
  for (const [text, answer] of [
    ['分析各港口的咖啡进口量,并解释变化', 'Antwerp grew by 12 % over the year, Trieste fell by 3 %.'],
    ['Leave out instant coffee', 'Without instant coffee Antwerp grew by 9 %.'],
    ['Split it by quarter', 'Most of it is the second quarter.'],
    ['Only the last two years', 'The two years hardly differ.'],
    ['Thanks', 'You are welcome.'],
  ] as const) {
    const run = await project.turn(root, text)
    await run.completes(answer)
    runs.push(run.id)
  }
  const places = async (id: string) => {
    const { session } = await api.query<{ session: { checkpoints: { nodes: { id: string }[] } } }>(
      'query($id: ID!) { session(id: $id) { checkpoints { nodes { id } } } }',
      { id },
    )
    return session.checkpoints.nodes.map((each) => each.id).reverse()
  }
  const fork = async (sessionId: string, title: string, from: object) => {
    const made = await api.do<{ session: { id: string } }>(
      'forkSession',
      { sessionId, title, ...from },
      'session { id }',
    )
    return made.session.id
  }
  const [first, , third] = await places(root)
  const coast = await fork(root, 'Only the coast', { checkpointId: first })
  await (await project.turn(coast, 'Only ports of the coast')).completes(
    'Then Trieste is the only one that fell.',
  )
  const [place] = await places(coast)
  await fork(coast, 'The coast, without Trieste', { checkpointId: place })
  await fork(root, 'By quarter, in euros', { checkpointId: third })
  await fork(root, 'Say the filter anew', { runId: runs[1] })
  return root
}
