import { type Config, ConfigError, readConfig } from '@wheelhouse/server/platform/config'
import { describe, expect, test } from 'vitest'

const noFiles = (path: string): string => {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT', path })
}
const read = (env: Record<string, string>, readFile = noFiles) =>
  readConfig(env, '/home/someone/place', readFile)

function complaints(env: Record<string, string>, readFile = noFiles): readonly string[] {
  try {
    read(env, readFile)
  } catch (error) {
    if (error instanceof ConfigError) return error.lines
    throw error
  }
  return []
}

const token = 'k7Qx-2mVt9_ZbW4sLr8Yd1NfHc6Ju3Ep'

describe('settings', () => {
  test('have defaults with which a person can start', () => {
    expect(read({})).toEqual({
      databaseUrl: null,
      port: 4600,
      host: '127.0.0.1',
      dataDirectory: '/home/someone/place/.wheelhouse',
      bootstrapToken: null,
      logLevel: 'info',
      sample: true,
      rateLimit: 60_000,
      publicUrl: null,
      model: null,
    } satisfies Config)
  })

  test.each<[string, string, Partial<Config>]>([
    ['DATABASE_URL', 'postgres://u:p@h/d', { databaseUrl: 'postgres://u:p@h/d' }],
    [
      'DATABASE_URL',
      'postgresql://u@h:6000/d?sslmode=require',
      { databaseUrl: 'postgresql://u@h:6000/d?sslmode=require' },
    ],
    ['DATABASE_URL', '', { databaseUrl: null }],
    ['WHEELHOUSE_PORT', '0', { port: 0 }],
    ['WHEELHOUSE_PORT', '65535', { port: 65_535 }],
    ['WHEELHOUSE_PORT', '', { port: 4600 }],
    ['WHEELHOUSE_HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['WHEELHOUSE_HOST', '::1', { host: '::1' }],
    ['WHEELHOUSE_DATA_DIR', 'data/here', { dataDirectory: '/home/someone/place/data/here' }],
    ['WHEELHOUSE_DATA_DIR', '/srv/wheelhouse/', { dataDirectory: '/srv/wheelhouse' }],
    ['WHEELHOUSE_BOOTSTRAP_TOKEN', token, { bootstrapToken: token }],
    ['WHEELHOUSE_LOG', 'silent', { logLevel: 'silent' }],
    ['WHEELHOUSE_SAMPLE', '0', { sample: false }],
    ['WHEELHOUSE_SAMPLE', '1', { sample: true }],
    ['WHEELHOUSE_PUBLIC_URL', 'https://wheel.example.org/', { publicUrl: 'https://wheel.example.org' }],
  ])('%s=%s is taken', (name, value, expected) => {
    expect(read({ [name]: value })).toMatchObject(expected)
  })

  test('of a model are its endpoint and its name, and a key where it needs one', () => {
    const model = { WHEELHOUSE_MODEL_URL: 'http://localhost:11434/v1/', WHEELHOUSE_MODEL_NAME: 'm' }
    const settings = { url: 'http://localhost:11434/v1', name: 'm', helperContextMaxChars: 2_000 }
    expect(read(model).model).toEqual({ ...settings, key: null })
    const more = { WHEELHOUSE_MODEL_KEY: 'k', WHEELHOUSE_HELPER_CONTEXT_MAX_CHARS: '400' }
    expect(read({ ...model, ...more }).model).toEqual({ ...settings, key: 'k', helperContextMaxChars: 400 })
  })

  test.each<[string, string, RegExp]>([
    ['DATABASE_URL', 'mysql://u@h/d', /^DATABASE_URL must be a PostgreSQL URL/],
    ['DATABASE_URL', 'somewhere', /^DATABASE_URL must be a PostgreSQL URL/],
    ['WHEELHOUSE_PORT', '65536', /^WHEELHOUSE_PORT must be a whole number from 0 to 65535$/],
    ['WHEELHOUSE_PORT', '-1', /^WHEELHOUSE_PORT must be/],
    ['WHEELHOUSE_PORT', '80.5', /^WHEELHOUSE_PORT must be/],
    ['WHEELHOUSE_PORT', 'http', /^WHEELHOUSE_PORT must be/],
    ['WHEELHOUSE_HOST', 'http://localhost', /^WHEELHOUSE_HOST must be a host name/],
    [
      'WHEELHOUSE_BOOTSTRAP_TOKEN',
      token.slice(1),
      /^WHEELHOUSE_BOOTSTRAP_TOKEN must have at least 32 characters$/,
    ],
    ['WHEELHOUSE_BOOTSTRAP_TOKEN', `${token} `, /^WHEELHOUSE_BOOTSTRAP_TOKEN must be printable/],
    ['WHEELHOUSE_BOOTSTRAP_TOKEN', 'x'.repeat(513), /^WHEELHOUSE_BOOTSTRAP_TOKEN must have at most 512/],
    [
      'WHEELHOUSE_LOG',
      'loud',
      /^WHEELHOUSE_LOG must be one of fatal, error, warn, info, debug, trace, silent$/,
    ],
    ['WHEELHOUSE_SAMPLE', 'yes', /^WHEELHOUSE_SAMPLE must be 0 or 1$/],
    ['WHEELHOUSE_MODEL_URL', 'localhost:11434', /^WHEELHOUSE_MODEL_URL must be an http or https URL/],
    ['WHEELHOUSE_MODEL_URL', 'http://u:p@x/v1', /^WHEELHOUSE_MODEL_URL must be/],
    ['WHEELHOUSE_MODEL_URL', 'http://x/v1', /^WHEELHOUSE_MODEL_NAME is missing/],
    ['WHEELHOUSE_MODEL_NAME', 'm', /^WHEELHOUSE_MODEL_URL is missing/],
    ['WHEELHOUSE_MODEL_KEY', 'a b', /^WHEELHOUSE_MODEL_KEY must be printable/],
    ['WHEELHOUSE_HELPER_CONTEXT_MAX_CHARS', '399', /^WHEELHOUSE_HELPER_CONTEXT_MAX_CHARS must be 400/],
    ['WHEELHOUSE_PUBLIC_URL', 'ftp://x', /^WHEELHOUSE_PUBLIC_URL must be an http or https URL/],
    ['WHEELHOUSE_PUBLIC_URL', 'https://x/path', /^WHEELHOUSE_PUBLIC_URL must be/],
    ['WHEELHOUSE_PROT', '1', /^WHEELHOUSE_PROT is not a setting; the nearest one is WHEELHOUSE_PORT$/],
    ['WHEELHOUSE_DATADIR', '1', /nearest one is WHEELHOUSE_DATA_DIR$/],
  ])('%s=%s is refused in one line', (name, value, expected) => {
    const lines = complaints({ [name]: value })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(expected)
  })

  test('that are wrong are all named at once', () => {
    expect(complaints({ WHEELHOUSE_PORT: 'x', WHEELHOUSE_LOG: 'x', WHEELHOUSE_COLOUR: 'x' })).toHaveLength(3)
  })

  test('of others are nobody’s business', () => {
    expect(complaints({ PORT: 'x', PGHOST: 'x', HOME: '' })).toEqual([])
  })

  test('that are secret are read from files, relative to where the person is', () => {
    const files: Record<string, string> = {
      '/home/someone/place/token': `${token}\n`,
      '/run/url': 'postgres://h/d\n',
    }
    const env = { WHEELHOUSE_BOOTSTRAP_TOKEN_FILE: 'token', DATABASE_URL_FILE: '/run/url' }
    const config = read(env, (path) => files[path] ?? noFiles(path))
    expect(config).toMatchObject({ bootstrapToken: token, databaseUrl: 'postgres://h/d' })
  })

  test('that are secret are given in one way only, and never repeated in a complaint', () => {
    const secret = 'short-secret'
    const lines = [
      ...complaints({ WHEELHOUSE_BOOTSTRAP_TOKEN: secret }),
      ...complaints({ WHEELHOUSE_BOOTSTRAP_TOKEN: secret, WHEELHOUSE_BOOTSTRAP_TOKEN_FILE: 'token' }),
      ...complaints({ DATABASE_URL: `mysql://u:${secret}@h/d` }),
      ...complaints({ WHEELHOUSE_BOOTSTRAP_TOKEN_FILE: 'token' }, () => secret),
      ...complaints({ WHEELHOUSE_BOOTSTRAP_TOKEN_FILE: 'token' }),
    ]
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatch(/are both set: keep one$/)
    expect(lines[4]).toMatch(/can't be read \(ENOENT\): token$/)
    expect(lines.join('\n')).not.toContain(secret)
  })

  test('start from where pnpm was called', () => {
    expect(readConfig({ INIT_CWD: '/somewhere' }).dataDirectory).toBe('/somewhere/.wheelhouse')
  })
})
