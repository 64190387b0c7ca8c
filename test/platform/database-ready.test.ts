import { DatabaseNotReadyError, databaseReady } from '@wheelhouse/server/platform/database-ready'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../kit/database.ts'
import { type Front, startFront } from '../kit/front.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let front: Front
let told: string[]

beforeEach(async () => {
  database = await freshDatabase({ empty: true })
  front = await startFront(database.url)
  told = []
})
afterEach(async () => {
  await front.close()
  await database.drop()
})

const waiting = (reason: string) => void told.push(reason)

describe('a database', () => {
  test('that answers is ready, and nobody is told of a wait', async () => {
    front.open()
    await databaseReady(front.url, { limitMs: 10_000, waiting })
    expect(told).toEqual([])
  })

  test('that starts is asked again until it answers', async () => {
    await databaseReady(front.url, {
      limitMs: 30_000,
      waiting,
      stopped: () => {
        if (front.refused >= 3) front.open()
        return false
      },
    })
    expect(front.refused).toBe(3)
    expect(told).toEqual(['the database system is starting up'])
  })

  test('that never comes up is waited for no longer than said, and its last word is passed on', async () => {
    const wait = databaseReady(front.url, { limitMs: 400, waiting })
    await expect(wait).rejects.toThrow(DatabaseNotReadyError)
    await expect(wait).rejects.toThrow(
      'the database was not ready within 0.4 s: the database system is starting up',
    )
    expect(front.refused).toBeGreaterThan(1)
  })

  test('that refuses connections, or has no socket yet, is waited for as well', async () => {
    await front.close()
    const { searchParams } = new URL(database.url)
    const noSocket = `${database.url.replace(/\?.*/, '')}?host=${searchParams.get('host')}&port=1`
    for (const url of [front.url, noSocket])
      await expect(databaseReady(url, { limitMs: 50, waiting })).rejects.toThrow(DatabaseNotReadyError)
    expect(told.map((reason) => /ECONNREFUSED|ENOENT/.exec(reason)?.[0])).toEqual(['ECONNREFUSED', 'ENOENT'])
  })

  test('of another name, user or host is not waited for', async () => {
    front.open()
    const wrong = {
      '3D000': front.url.replace(database.name, 'nowhere'),
      '28000': front.url.replace(/\/\/\w+@/, '//nobody@'),
      ENOTFOUND: 'postgres://postgres@nowhere.invalid/none',
      ENOENT: 'postgres://postgres@localhost/none?host=/nowhere',
    }
    for (const [code, url] of Object.entries(wrong)) {
      const failure = databaseReady(url, { limitMs: 60_000, waiting })
      const expected = code === 'ENOTFOUND' ? /ENOTFOUND|EAI_AGAIN/ : new RegExp(code)
      await expect(failure).rejects.toMatchObject({ code: expect.stringMatching(expected) })
    }
    expect(told).toEqual([])
  })
})
