import type { InputIssue } from '../../../platform/refusal.ts'
import { textIssues } from '../../../platform/text.ts'
import { principalLimits } from '../principals/rules.ts'

/*
 * How a person gets in for the first time:
 *
 *   invitation: OPEN ──redeem──▶ USED
 *                 ├──its time──▶ EXPIRED
 *                 └──a newer first-owner link──▶ (gone)
 */

const hour = 3_600_000
export const invitationLifetimesMs = { FIRST_OWNER: 24 * hour, INVITATION: 7 * 24 * hour }
export type InvitationKind = keyof typeof invitationLifetimesMs

export const passwordLengths = { min: 12, max: 200 }

export interface InvitationFacts {
  usedAt: Date | null
  expiresAt: Date
}
export const isOpen = (invitation: InvitationFacts, now: Date) =>
  invitation.usedAt === null && invitation.expiresAt > now

/** Who a person says to be when it redeems an invitation. */
export interface Identity {
  name: string
  email: string
  password: string
}

/** One mailbox, roughly as HTML's `type=email` checks it; only its owner can prove more. */
const mailbox = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\.]+(\.[^\s@<>,;:"()[\]\\.]+)+$/

export const isEmail = (text: string) => text.length <= principalLimits.email && mailbox.test(text)

const count = (text: string) => [...text].length

/** Reads what a person typed: names and addresses trimmed, addresses in lower case, a password as it is. */
export function readIdentity(raw: Record<string, unknown>): Identity | InputIssue[] {
  const issues: InputIssue[] = []
  const read = (field: keyof Identity): string => {
    const value = raw[field]
    if (typeof value === 'string' && textIssues(value).length === 0) return value
    issues.push({ path: [field], message: value === undefined ? 'is missing' : 'must be plain text' })
    return ''
  }
  const check = (field: keyof Identity, holds: boolean, message: string) => {
    if (!holds && !issues.some((issue) => issue.path[0] === field)) issues.push({ path: [field], message })
  }
  const name = read('name').trim()
  check('name', name.length > 0, 'must not be blank')
  check('name', count(name) <= principalLimits.name, `must be at most ${principalLimits.name} characters`)
  const email = read('email').trim().toLowerCase()
  check('email', isEmail(email), 'must be an e-mail address')
  const password = read('password')
  const { min, max } = passwordLengths
  check('password', count(password) >= min, `must be at least ${min} characters`)
  check('password', count(password) <= max, `must be at most ${max} characters`)
  return issues.length > 0 ? issues : { name, email, password }
}
