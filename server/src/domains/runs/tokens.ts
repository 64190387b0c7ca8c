import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Run tokens are derived, not stored: HMAC-SHA-256 over the run's id and its token generation, so that a replayed
 * `startRun` hands out the same one and every later generation fences it.
 */
export function runToken(secret: Uint8Array, runId: string, generation: number): string {
  const mac = createHmac('sha256', secret).update(`run\0${runId}\0${generation}`).digest('base64url')
  return `rt_${generation.toString(36)}_${mac}`
}

/** The generation of a token that this server made for this run, or null for anything else. Constant-time. */
export function generationOf(secret: Uint8Array, runId: string, token: string): number | null {
  const generation = Number.parseInt(/^rt_([0-9a-z]{1,7})_/.exec(token)?.[1] ?? '', 36)
  if (!Number.isSafeInteger(generation)) return null
  const expected = Buffer.from(runToken(secret, runId, generation))
  const given = Buffer.from(token)
  return given.length === expected.length && timingSafeEqual(given, expected) ? generation : null
}
