import type { TestApp } from './app.ts'
import { eventually } from './eventually.ts'

interface StreamError {
  message: string
  extensions?: { code?: string }
}

/**
 * Opens an operation as server-sent events, and leaves it when it has refused or stands as a watch. Gives what came
 * until then; afterwards nothing is registered any more.
 */
export async function openAndLeave(
  app: TestApp,
  token: string,
  body: string,
): Promise<{ status: number; errors: StreamError[]; stood: boolean }> {
  const leave = new AbortController()
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body,
  })
  let text = ''
  let over = false
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })()
    .catch(() => undefined)
    .finally(() => {
      over = true
    })
  await eventually(() => over || app.app.openWatches.size > 0)
  const stood = !over && app.app.openWatches.size > 0
  leave.abort()
  await reading
  await eventually(() => app.app.openWatches.size === 0)
  const data = response.status === 200 ? /^data: (.+)$/m.exec(text)?.[1] : text
  const { errors } = data ? (JSON.parse(data) as { errors?: StreamError[] }) : {}
  return { status: response.status, errors: errors ?? [], stood }
}
