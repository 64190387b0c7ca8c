import type { Refusal, RefusalCode } from '../platform/refusal.ts'

const statuses: Partial<Record<RefusalCode, number>> = {
  INVALID_INPUT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
}

/** A refusal as the answer of an HTTP endpoint outside GraphQL: `{ code, message, issues? }`. */
export function refusalResponse({ code, message, detail }: Refusal): Response {
  return Response.json(
    { code, message, ...(detail.issues && { issues: detail.issues }) },
    { status: statuses[code] ?? 422, headers: { 'cache-control': 'no-store' } },
  )
}
