import { builtIn } from '@wheelhouse/server/domains/protocols/built-in'
import { governedBy, type Protocol } from '@wheelhouse/server/domains/protocols/rules'
import {
  exposureOf,
  type PlanAt,
  type PlanSettings,
  planOf,
} from '@wheelhouse/server/domains/runs/guard/plan/rules'
import { describe, expect, test } from 'vitest'

const none: PlanSettings = { skillDeny: [], skillAllow: [], mcpAllow: [] }
const [general, analysis] = builtIn as readonly [Protocol, Protocol]
const at = (protocol: Protocol, phase = protocol.initialPhase, allowed: string[] | null = null): PlanAt => ({
  protocol,
  phase,
  protocols: builtIn,
  allowed,
  isGoverned: governedBy(builtIn),
})
const skill = (name: string, action = 'skill.use') => ({ name, group: 'SKILL', action })
const mcp = (name: string, server: string) => ({ name, group: 'MCP', action: 'mcp.call', server })

describe('what a project shows', () => {
  test.each<[string, object, Partial<PlanSettings>, boolean]>([
    ['a skill', skill('pdf'), {}, true],
    ['a skill that is denied', skill('pdf'), { skillDeny: ['pdf'] }, false],
    ['a skill that is denied by its beginning', skill('pdf'), { skillDeny: ['p*'] }, false],
    ['a skill that is denied and allowed', skill('pdf'), { skillDeny: ['pdf'], skillAllow: ['pdf'] }, false],
    ['a skill that is allowed', skill('pdf'), { skillAllow: ['pdf'] }, true],
    ['a skill that is not among the allowed', skill('pdf'), { skillAllow: ['docx'] }, false],
    ['what finds skills', skill('find', 'skill.search'), { skillDeny: ['*'], skillAllow: ['pdf'] }, true],
    ['no skill', { name: 'pdf', group: 'FILE', action: 'file.read' }, { skillDeny: ['*'] }, true],
    ['a tool of a server without a list', mcp('get', 'a'), { mcpAllow: [{ server: 'b', tools: [] }] }, true],
    ['a tool in its server’s list', mcp('get', 'a'), { mcpAllow: [{ server: 'a', tools: ['g*'] }] }, true],
    ['a tool not in it', mcp('put', 'a'), { mcpAllow: [{ server: 'a', tools: ['g*'] }] }, false],
    ['a tool of MCP, whatever the skills', mcp('get', 'a'), { skillDeny: ['*'] }, true],
  ])('%s', (_what, tool, settings, exposed) => {
    expect(exposureOf(tool as never, { ...none, ...settings }).exposed).toBe(exposed)
  })
})

describe('a plan', () => {
  const tools = [
    mcp('get', 'a'),
    { name: 'sql', group: 'DATA', action: 'run_sql_readonly' },
    { name: 'write', group: 'FILE', action: 'file.write' },
    { name: 'list', group: 'DATA', action: 'list_data_sources' },
  ]
  const plan = (where: PlanAt) => planOf({ name: 'agent', tools }, none, where)

  test('lists by family, then by name, and last what is always there', () => {
    expect(plan(at(general)).map(({ name, source }) => [name, source])).toEqual([
      ['list', 'agent'],
      ['sql', 'agent'],
      ['write', 'agent'],
      ['get', 'agent'],
      ['protocol_handoff', 'wheelhouse'],
      ['analysis_requirements_commit', 'wheelhouse'],
    ])
  })

  test('says which handoff would enable a tool', () => {
    const sql = plan(at(general)).find(({ name }) => name === 'sql')
    expect(sql).toMatchObject({ status: 'PROTOCOL_DISABLED', handoffTo: 'data-analysis@1', exposed: true })
    expect(sql?.reasons).toEqual([
      'declared by the runtime',
      'not allowed in general-task@1, understand; a handoff to data-analysis@1 has it',
    ])
  })

  test('names no handoff to what the project does not allow', () => {
    expect(
      plan(at(general, 'understand', ['other'])).find(({ name }) => name === 'sql')?.handoffTo,
    ).toBeNull()
  })

  test('names the later phase of the same protocol', () => {
    const sql = plan(at(analysis)).find(({ name }) => name === 'sql')
    expect(sql).toMatchObject({ status: 'PROTOCOL_DISABLED', handoffTo: null })
    expect(sql?.reasons.at(-1)).toBe('not allowed in data-analysis@1, scope; in execution it is')
    expect(plan(at(analysis, 'execution')).find(({ name }) => name === 'sql')?.status).toBe('AVAILABLE')
  })

  test('has a tool that a runtime declares itself only once', () => {
    const own = { name: 'protocol_handoff', group: 'TASK', action: 'protocol.handoff.propose' }
    const entries = planOf({ name: 'agent', tools: [own] }, none, at(general))
    expect(entries.map(({ name }) => name)).toEqual(['protocol_handoff', 'analysis_requirements_commit'])
  })
})
