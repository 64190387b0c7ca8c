import { useRef } from 'react'

/** A random key of 32 hexadecimal digits; unlike `crypto.randomUUID` it also exists on plain HTTP. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

/**
 * The idempotency key of a form: the same content sent again, after a lost answer for example, carries the
 * same key; changed content, or the next form after `renew`, carries a new one.
 */
export function useIdempotencyKey(): { keyFor: (content: unknown) => string; renew: () => void } {
  const last = useRef<{ content: string; key: string }>(null)
  return {
    keyFor: (content) => {
      const text = JSON.stringify(content)
      if (last.current?.content !== text) last.current = { content: text, key: randomKey() }
      return last.current.key
    },
    renew: () => {
      last.current = null
    },
  }
}
