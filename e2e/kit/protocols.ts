import type { Project } from './test.ts'

/** A protocol as an owner writes it: refunds are looked into, then paid, and paying asks an owner. */
export const refundReview = `# Refunds are money: looked into first, paid after.
id: refund-review
version: 1
title: Refund review
initialPhase: look_into
phases:
  - name: look_into
    allowedActions: [orders.read, payments.read, ungoverned]
    transitions:
      - to: decide
        on: { action: payments.read }
  - name: decide
    allowedActions: [refund.pay, refund.decline, orders.read]
    needsApproval: [refund.pay]
    transitions:
      - to: look_into
        on: { action: refund.pay, ok: false }
      - to: done
        when: { refund_settled: true }
  - name: done
    allowedActions: [ungoverned]
    final: true
governs: [refund.pay, refund.decline]
completion:
  requiredFacts: { refund_settled: true }
  strict: true
startRules:
  - id: REFUND_ASKED
    anyOf:
      - all:
          - [refund, money back, 退款]
`
export const refundReview2 = refundReview
  .replace('version: 1', 'version: 2')
  .replace(
    'allowedActions: [orders.read, payments.read, ungoverned]',
    'allowedActions: [orders.read, payments.read, customers.read, ungoverned]',
  )
  .replace('needsApproval: [refund.pay]', 'needsApproval: [refund.pay, refund.decline]')
  .replace(
    'governs: [refund.pay, refund.decline]',
    'governs: [refund.pay, refund.decline]\nstaleIntent: BLOCK',
  )

/** Registers a definition as YAML. */
export const givenProtocol = (project: Project, definition: string) =>
  project.api.do(
    'registerProtocol',
    { projectId: project.id, definition, format: 'YAML' },
    'protocol { name }',
  )
