import type pg from 'pg'
import type { Job, Work } from '../sample.ts'
import { detailQuery, type Figures, focusedOn, summaryQuery } from './analysis.ts'
import type { Requirement, Standing } from './documents.ts'
import { Governed } from './governed.ts'
import { languageOf, latest, type Plan, readTask, refine } from './question.ts'
import { answerOf, type Desk, type Found, ground, runQuery } from './steps.ts'
import { isHasty, isRefinement, staysPut, wishOf } from './wish.ts'
import { ownRequirements, type Words, words } from './words.ts'

interface Agent extends Desk {
  job: Job
  said: Words
  /** How many orders there are. */
  orders: number
}
/** Whether all was done; null: the task has moved, and is begun again. */
type Outcome = boolean | null

const generalTask = 'general-task'

/** What the sample agent does with a turn: looks at its task, goes where that can be done, does it step by step. */
export function answerFrom(database: pg.Client, orders: number): Work {
  return async (job) => {
    const { [languageOf(job.text)]: said } = words
    const governed = new Governed(job)
    // Guidance that came before the interruption comes again with the other signals, and is followed again.
    if (job.again) await job.say(said.restarted, { toTheEnd: true })
    for (let prefix = ''; ; prefix = said.corrected) {
      const whole = await turn({ job, governed, database, orders, said }, prefix)
      if (whole !== null && (await isOver({ job, governed, said }))) return whole
    }
  }
}

/** Waits for the answer to an ask that is not needed any more; false when the task has moved. */
async function isOver({ job, governed, said }: Pick<Agent, 'job' | 'governed' | 'said'>): Promise<boolean> {
  if (job.openAsk) await job.say(said.stillAsked, { toTheEnd: true })
  do {
    if (job.openAsk) await job.answer(job.openAsk, () => job.corrected)
    if (await governed.hasMoved()) return false
  } while (job.openAsk)
  return true
}

async function turn(agent: Agent, prefix: string): Promise<Outcome> {
  const { job, governed, said } = agent
  const at = await governed.look()
  const { relation, active } = at.binding
  const task = relation === 'SIDE_CHAT' ? null : active
  const text = task?.text ?? job.text
  switch (wishOf(text)) {
    case 'help':
      await job.say(said.abilities)
      return true
    case 'thanks':
      await job.say(said.thanks)
      return true
    case 'document':
      return draft(agent, at)
    case 'figures':
      break
  }
  if (!task && active && isRefinement(text) && refine(latest, text)) {
    await job.say(said.sideChat(active.text))
    return true
  }
  const wanted = task?.requirements.filter(
    (each) => each.state !== 'DROPPED' && !ownRequirements.has(each.text),
  )
  const read = readTask(text, wanted ?? [])
  if (!read) {
    await job.say(said.abilities)
    return false
  }
  const way = at.toolPlan.entries.find(({ name }) => name === 'run_sql_readonly')?.handoffTo
  if (!way) return analyse(agent, at, { ...read, text, wanted: wanted ?? [], prefix })
  if (staysPut(job.text)) {
    const refused = !(await runQuery(agent, 'before anything else', summaryQuery(read.plan)))
    if (refused) await job.say(said.stuck('run_sql_readonly'))
    return true
  }
  if (at.segment.openedBy === 'OWNER') {
    await job.say(said.blocked('run_sql_readonly'))
    return false
  }
  const { accepted, why } = await governed.handOff(way, said.handoff.analysis)
  if (accepted) return turn(agent, prefix)
  await job.say(said.rejected(way, why ?? ''))
  return false
}

interface Task {
  text: string
  plan: Plan
  /** What others require of it, and which of that the plan follows. */
  wanted: Requirement[]
  followed: string[]
  prefix: string
}

async function analyse(agent: Agent, at: Standing, task: Task): Promise<Outcome> {
  const { job, governed, said } = agent
  const { requirements: mine } = words[languageOf(task.text)]
  const [given, checked] = at.binding.relation === 'SIDE_CHAT' ? [] : await governed.commit(mine)
  let { plan, prefix } = task
  if (isHasty(job.text) && prefix === '' && !governed.may('run_sql_readonly')) {
    const early = await runQuery(agent, `sales by ${plan.by}`, summaryQuery(plan))
    if (!early) await job.say(said.refused('run_sql_readonly', governed.ways))
  }
  const blocked = async () => {
    if (job.corrected && (await governed.hasMoved())) return null
    await job.say(said.blocked('run_sql_readonly'))
    return false
  }
  if (!(await ground(agent, plan))) return blocked()

  /** The requirements that an answer meets, each with the action that shows it. */
  const meet = async ({ queried, checked: check, parts, control }: Found) => {
    const follows = task.wanted.filter(({ id }) => task.followed.includes(id))
    for (const each of [given, ...follows]) if (each?.state === 'OPEN') await governed.meet(each.id, queried)
    if (checked?.state === 'OPEN' && parts === control) await governed.meet(checked.id, check)
  }
  const here: Answered[] = []
  let rows: Figures[] = []
  let next: 'summary' | 'detail' | 'nothing' = 'summary'
  let [whole, answered, draftLater] = [true, false, false]
  while (next !== 'nothing' || job.corrected || job.guidance.length > 0) {
    if (job.corrected && (await governed.hasMoved())) return null
    const guidance = job.guidance.shift()
    if (guidance !== undefined && wishOf(guidance) === 'document') {
      const left = await governed.handOff(generalTask, said.handoff.document)
      if (left.accepted) return draft(agent, await governed.look(), here)
      draftLater = left.why === 'STRICT_GOALS_OPEN'
      await job.say(draftLater ? said.goalsFirst(left.openGoals) : said.rejected(generalTask, left.why ?? ''))
      if (!answered) next = 'summary'
    } else if (guidance !== undefined) {
      const refined = refine(plan, guidance)
      if (refined) [plan, prefix, next] = [refined, said.asked, 'summary']
      else {
        await job.say(said.notUnderstood(guidance))
        if (!answered) next = 'summary'
      }
    } else if (next === 'summary') {
      const found = await answerOf(agent, `sales by ${plan.by}`, summaryQuery(plan), plan)
      if (!found) return blocked()
      rows = found.rows
      next = plan.why && rows.length > 0 ? 'detail' : 'nothing'
      await job.say(prefix + said.summary(plan, rows))
      answered = !job.interrupted
      if (!answered) continue
      here.push({ question: task.text, answer: said.summary(plan, rows) })
      if (found.parts !== found.control) await job.say(said.mismatch(found.parts, found.control))
      await meet(found)
    } else if (next === 'detail') {
      const payload = { tool: 'run_sql_readonly', table: 'orders', rows: agent.orders }
      const decision = await job.ask(said.ask(agent.orders), payload)
      if (decision === null) continue
      whole = decision === 'allow'
      next = 'nothing'
      if (!whole) {
        await job.say(said.denied)
        continue
      }
      const focus = rows[0]?.name ?? ''
      const query = detailQuery(plan, focus)
      const detail = await answerOf(agent, `every order, by ${plan.by}`, query, focusedOn(plan, focus))
      if (!detail) return blocked()
      await job.say(said.detail(plan, focus, detail.rows))
    }
  }
  const unmet = task.wanted.filter(({ id, state }) => state === 'OPEN' && !task.followed.includes(id))
  if (unmet.length > 0) await job.say(said.unmet(unmet.map(({ text }) => text)))
  if (!draftLater) return whole && unmet.length === 0
  const left = await governed.handOff(generalTask, said.handoff.document)
  if (left.accepted) return draft(agent, await governed.look(), here)
  await job.say(said.rejected(generalTask, left.why ?? ''))
  return false
}

interface Answered {
  question: string
  answer: string
}

/** A text of what was answered, in the session and here, under the general protocol. */
async function draft(agent: Agent, at: Standing, here: Answered[] = []): Promise<Outcome> {
  const { job, governed, said } = agent
  if (!at.segment.protocol.startsWith(`${generalTask}@`) && at.segment.openedBy !== 'OWNER') {
    const { accepted, why } = await governed.handOff(generalTask, said.handoff.document)
    if (accepted) return draft(agent, await governed.look(), here)
    await job.say(said.rejected(generalTask, why ?? ''))
    return false
  }
  const figures = /\d[\d\u00a0]*\d/
  const before = job.window
    .filter(({ authority, text }) => authority === 'AGENT' && figures.test(text) && !text.startsWith('# '))
    .map(({ answers: asked, text }) => ({ question: asked?.text ?? '', answer: text }))
  // What was answered a second time stands under the question that came first.
  const answers = [...before, ...here].filter(
    ({ answer }, index, all) => all.findIndex((each) => each.answer === answer) === index,
  )
  const drafted = await governed.act(
    'draft_document',
    { summary: 'README', answers: answers.length },
    async () => said.document(answers),
    (text) => ({ summary: `${text.length} characters`, facts: { answer_ready: true } }),
  )
  if (!drafted) {
    await job.say(said.blocked('draft_document'))
    return false
  }
  await job.say(drafted.found)
  return true
}
