interface AllowedAction {
  action: string
  allowed: boolean
  reason: string | null
}

/**
 * What the server says about one action. `hidden`: it is not offered at all to this person here;
 * `refused`: it exists but not now, and the server says why.
 */
export type Permission = { is: 'allowed' } | { is: 'refused'; reason: string } | { is: 'hidden' }

export function permission(actions: readonly AllowedAction[] | undefined, action: string): Permission {
  const found = actions?.find((each) => each.action === action)
  if (found === undefined) return { is: 'hidden' }
  if (found.allowed) return { is: 'allowed' }
  return found.reason === null ? { is: 'hidden' } : { is: 'refused', reason: found.reason }
}
