import { EventEmitter, once } from 'node:events'
import { createLifecycle } from '@wheelhouse/server/platform/lifecycle'
import { createLogger } from '@wheelhouse/server/platform/logger'
import { describe, expect, test } from 'vitest'

const log = createLogger('silent')
const never = () => new Promise<void>(() => undefined)

describe('a stop', () => {
  test('closes what was opened in reverse, once', async () => {
    const lifecycle = createLifecycle(log)
    const closed: string[] = []
    for (const name of ['directory', 'database', 'server'])
      lifecycle.opened(name, () => void closed.push(name))
    expect(await Promise.all([lifecycle.close(), lifecycle.close()])).toEqual([true, true])
    expect(closed).toEqual(['server', 'database', 'directory'])
  })

  test('goes on past what fails or takes too long, and says that it was not clean', async () => {
    const lifecycle = createLifecycle(log)
    let closed = false
    lifecycle.opened('directory', () => {
      closed = true
    })
    lifecycle.opened('database', () => {
      throw new Error('broken')
    })
    lifecycle.opened('server', never, 20)
    expect(await lifecycle.close()).toBe(false)
    expect(closed).toBe(true)
  })

  test('that comes while starting cuts the start short and closes what it had opened', async () => {
    const lifecycle = createLifecycle(log)
    const closed: string[] = []
    const step = new EventEmitter()
    const started = lifecycle.start(async () => {
      lifecycle.opened('directory', () => void closed.push('directory'))
      await once(step, 'taken')
      lifecycle.opened('database', () => void closed.push('database'))
      lifecycle.opened('server', () => void closed.push('server'))
    })
    const stopped = lifecycle.close()
    expect(closed).toEqual([])
    step.emit('taken')
    await expect(started).rejects.toThrow('stopped while starting')
    expect(await stopped).toBe(true)
    expect(closed).toEqual(['database', 'directory'])
  })

  test('after a start that failed closes what that had opened', async () => {
    const lifecycle = createLifecycle(log)
    const closed: string[] = []
    const started = lifecycle.start(async () => {
      lifecycle.opened('directory', () => void closed.push('directory'))
      throw new Error('no database')
    })
    await expect(started).rejects.toThrow('no database')
    expect(await lifecycle.close()).toBe(true)
    expect(closed).toEqual(['directory'])
  })
})
