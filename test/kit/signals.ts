import type { Client } from './client.ts'

/** What a runtime hears. */
export interface Signal {
  __typename: 'RunOffer' | 'RunSteered' | 'RunCancelled' | 'ApprovalResolved' | 'IntentCorrected'
  signalId: string
  run: { id: string; state: string }
  text: string
  reason: string
  decision: string
  note: string | null
  approval: { id: string; state: string }
}

const query = `subscription($id:ID!){runtimeSignals(runtimeId:$id){__typename
  ...on RunOffer{signalId run{id state}} ...on RunSteered{signalId run{id state} text}
  ...on RunCancelled{signalId run{id state} reason}
  ...on ApprovalResolved{signalId run{id state} decision approval{id state}}
  ...on IntentCorrected{signalId run{id state} note}}}`

export const hear = (client: Client, runtimeId: string) => client.watch<Signal>(query, { id: runtimeId })
