import { renamed } from './definition-check.ts'
import { asWritten, textOf } from './definition-text.ts'
import type { Draft } from './draft.ts'
import type { ProtocolRow } from './queries.ts'

const blank = `id: my-protocol
version: 1
title: My protocol
initialPhase: gather
phases:
  - name: gather
    allowedActions: [ungoverned, example.read]
    transitions:
      - to: act
        on: { action: example.read }
  - name: act
    allowedActions: [ungoverned, example.change]
    needsApproval: [example.change]
    transitions:
      - to: report
        on: { action: example.change }
  - name: report
    allowedActions: [ungoverned]
    final: true
governs: [example.change]
`

/**
 * What the editor begins with: an example, or a copy. Of a registered protocol it is the next version, as it was
 * written; what is built in has no next version, so that its copy is a protocol of another name.
 */
export function firstText(
  copied: ProtocolRow | undefined,
  source: string | null,
  format: 'YAML' | 'JSON' | null,
  newest: number,
): Draft {
  if (!copied) return { text: blank, format: 'YAML' }
  if (copied.builtIn) {
    const text = textOf(asWritten(copied.definition), 'YAML')
    return { text: renamed(text, { id: `my-${copied.protocolId}`, version: 1 }), format: 'YAML' }
  }
  const written = format ?? 'YAML'
  const text = source ?? textOf(asWritten(copied.definition), written)
  return { text: renamed(text, { version: newest + 1 }), format: written }
}
