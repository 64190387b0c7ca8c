import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits for a condition: calls `look` until it neither throws nor gives false, and gives what it gave. After `limitMs`
 * the last error is thrown.
 */
export async function eventually<T>(look: () => T | Promise<T>, limitMs = 15_000): Promise<T> {
  const end = performance.now() + limitMs
  while (true) {
    let complaint: unknown
    try {
      const value = await look()
      if (value !== false) return value
      complaint = new Error('the condition never held')
    } catch (error) {
      complaint = error
    }
    if (performance.now() > end) throw complaint
    await pause(10)
  }
}
