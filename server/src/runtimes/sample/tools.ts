/** The tools of the sample agent, each with the action that it stands for: what the guard judges, and protocols name. */
export const tools = [
  { name: 'list_data_sources', group: 'DATA', action: 'list_data_sources' },
  { name: 'inspect_schema', group: 'DATA', action: 'inspect_schema' },
  { name: 'preview_table', group: 'DATA', action: 'preview_table' },
  { name: 'resolve_context', group: 'KNOWLEDGE', action: 'semantic.context.resolve' },
  { name: 'ground_analysis', group: 'KNOWLEDGE', action: 'analysis.contract.ground' },
  { name: 'plan_query', group: 'DATA', action: 'data.query.plan' },
  { name: 'validate_query', group: 'DATA', action: 'data.query.validate' },
  { name: 'run_sql_readonly', group: 'DATA', action: 'run_sql_readonly' },
  { name: 'validate_result', group: 'DATA', action: 'analysis.result.validate' },
  { name: 'bind_evidence', group: 'KNOWLEDGE', action: 'analysis.evidence.bind' },
  { name: 'draft_document', group: 'WORKSPACE', action: 'document.draft' },
] as const
export type Tool = (typeof tools)[number]['name']
export const actionOf = (tool: Tool): string => tools.find(({ name }) => name === tool)?.action ?? tool
