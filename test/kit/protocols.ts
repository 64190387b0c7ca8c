import type { Story } from './story.ts'

/** A protocol that a start rule can choose, with a payment that needs an approval. */
export const refundReview = (
  version: number,
  title = 'Refund review',
) => `# Who asks for money back gets an answer.
id: refund-review
version: ${version}
title: ${title}
initialPhase: look
phases:
  - name: look
    allowedActions: [refunds.read, ungoverned]
    transitions:
      - { to: decide, on: { action: refunds.read } }
  - name: decide
    allowedActions: [refunds.*, ungoverned]
    needsApproval: [refunds.pay]
    final: true
governs: [refunds.*]
completion: { requiredFacts: { decided: true }, strict: true }
startRules:
  - id: REFUND_ASKED
    anyOf: [{ all: [[refund, 退款], [please, 请]] }]
    noneOf: [policy]
`

/** Registers a definition in the project of a story. */
export const registerProtocol = (story: Story, definition: string, format = 'YAML', more: object = {}) =>
  story.owner.do<{ protocol: { name: string } }>(
    'registerProtocol',
    { projectId: story.projectId, definition, format, ...more },
    'protocol{name}',
  )
