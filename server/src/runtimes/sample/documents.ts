import { Problem } from '../../examples/persistently.ts'

/* What the sample agent asks of the API, and what it gets. */

export type Registered = { runtime: { id: string } }
export type Asked = { approval: { id: string } }

const run = 'signalId run{id state}'
export const signals = `subscription($runtimeId:ID!){runtimeSignals(runtimeId:$runtimeId){__typename
  ...on RunOffer{${run} message{text} window{authority text answers{text}}} ...on RunSteered{${run} text}
  ...on ApprovalResolved{${run} approval{id} decision} ...on RunCancelled{${run}} ...on IntentCorrected{${run}}}}`
export type Said = { authority: string; text: string; answers: { text: string } | null }
export type Signal = { signalId: string; run: { id: string; state: string } } & (
  | { __typename: 'RunOffer'; message: { text: string }; window: Said[] }
  | { __typename: 'RunSteered'; text: string }
  | { __typename: 'ApprovalResolved'; approval: { id: string }; decision: string }
  | { __typename: 'RunCancelled' }
  | { __typename: 'IntentCorrected' }
)

export const started =
  'runToken run{approvals{id decision} actions(first:100){nodes{id decision ok approval{id}}}}'
export interface Started {
  runToken: string
  run: {
    approvals: { id: string; decision: string | null }[]
    actions: {
      nodes: { id: string; decision: string; ok: boolean | null; approval: { id: string } | null }[]
    }
  }
}

export const standing = `query($id:ID!){run(id:$id){
  binding{relation active{id text requirements{id text state}}} segment{protocol openedBy}
  session{intent{id}} toolPlan{entries{name status handoffTo action}}}}`
export interface Requirement {
  id: string
  text: string
  state: 'OPEN' | 'MET' | 'DROPPED'
}
/** How a run stands: its task, the protocol of its segment, and what that allows. */
export interface Standing {
  binding: {
    relation: 'CONTINUE' | 'REFINE' | 'REPLACE' | 'SIDE_CHAT'
    active: { id: string; text: string; requirements: Requirement[] } | null
  }
  segment: { protocol: string; openedBy: string }
  session: { intent: { id: string } | null }
  toolPlan: {
    entries: {
      name: string
      action: string
      status: 'AVAILABLE' | 'PROTOCOL_DISABLED'
      handoffTo: string | null
    }[]
  }
}

export const requested = 'actionId decision allowedActions approval{id}'
export interface Requested {
  actionId: string
  decision: 'ALLOWED' | 'DENIED' | 'NEEDS_APPROVAL'
  allowedActions: string[]
  approval: { id: string } | null
}

export const handedOff = 'accepted why:code openGoals'
export interface HandedOff {
  accepted: boolean
  why: string | null
  openGoals: string[]
}
export const committed = 'intent{id} requirements{id text state}'
export interface Committed {
  intent: { id: string }
  requirements: Requirement[]
}

/** What to do instead, of a problem with this code; anything else goes on its way. */
export const unless =
  <T>(code: string, instead: () => T) =>
  (error: unknown): T => {
    if (error instanceof Problem && error.code === code) return instead()
    throw error
  }
