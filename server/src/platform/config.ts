import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'

/** The settings of one server process. The README's table of settings follows this file. */
export interface Config {
  /** Null: the embedded PostgreSQL of the data directory. */
  databaseUrl: string | null
  port: number
  host: string
  /** Absolute. */
  dataDirectory: string
  /** The first owner's API token, for headless use. */
  bootstrapToken: string | null
  logLevel: (typeof logLevels)[number]
  /** Whether the sample runtime is started. */
  sample: boolean
  /** Requests a minute that one token, or one address without a token, may send. */
  rateLimit: number
  /** Where people reach the console when that isn't `http://host:port`; without a slash at its end. */
  publicUrl: string | null
  /** The model that relates messages to tasks; null where none is configured. */
  model: { url: string; key: string | null; name: string; helperContextMaxChars: number } | null
}

/** One line for each setting that is wrong; never a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'))
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const shortestToken = 32
const longestToken = 512

const settings = {
  DATABASE_URL: z
    .string()
    .refine(isPostgresUrl, 'must be a PostgreSQL URL: postgresql://user:password@host:5432/database')
    .optional(),
  WHEELHOUSE_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a whole number from 0 to 65535')
    .default(4600),
  WHEELHOUSE_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, 'must be a host name or an address, without scheme and port')
    .default('127.0.0.1'),
  WHEELHOUSE_DATA_DIR: z.string().default('.wheelhouse'),
  WHEELHOUSE_BOOTSTRAP_TOKEN: z
    .string()
    .min(shortestToken, `must have at least ${shortestToken} characters`)
    .max(longestToken, `must have at most ${longestToken} characters`)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .optional(),
  WHEELHOUSE_LOG: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  WHEELHOUSE_SAMPLE: z
    .enum(['0', '1'], 'must be 0 or 1')
    .transform((value) => value === '1')
    .default(true),
  WHEELHOUSE_RATE_LIMIT: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number of requests a minute')
    .transform(Number)
    .refine((limit) => limit >= 60, 'must be at least 60 requests a minute')
    .default(60_000),
  WHEELHOUSE_PUBLIC_URL: z
    .string()
    .refine(isWebOrigin, 'must be an http or https URL without path, query and credentials')
    .transform((value) => value.replace(/\/$/, ''))
    .optional(),
  WHEELHOUSE_MODEL_URL: z
    .string()
    .refine(
      isEndpoint,
      'must be an http or https URL of an OpenAI-compatible endpoint, such as http://localhost:11434/v1',
    )
    .transform((value) => value.replace(/\/$/, ''))
    .optional(),
  WHEELHOUSE_MODEL_KEY: z
    .string()
    .max(longestToken, `must have at most ${longestToken} characters`)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .optional(),
  WHEELHOUSE_MODEL_NAME: z.string().max(200, 'must have at most 200 characters').optional(),
  WHEELHOUSE_HELPER_CONTEXT_MAX_CHARS: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number of characters')
    .transform(Number)
    .refine((characters) => characters >= 400 && characters <= 100_000, 'must be 400 to 100000 characters')
    .default(2_000),
}

type Name = keyof typeof settings

/** These may be kept in a file, named by the setting with `_FILE` at its end. */
const secrets = new Set<Name>(['DATABASE_URL', 'WHEELHOUSE_BOOTSTRAP_TOKEN', 'WHEELHOUSE_MODEL_KEY'])

const known = Object.keys(settings).flatMap((name) =>
  secrets.has(name as Name) ? [name, `${name}_FILE`] : [name],
)

function parsed(value: string): URL | null {
  try {
    return new URL(value)
  } catch {
    return null
  }
}

function isPostgresUrl(value: string): boolean {
  return ['postgres:', 'postgresql:'].includes(parsed(value)?.protocol ?? '')
}

function isWebOrigin(value: string): boolean {
  const url = parsed(value)
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false
  return url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
}

function isEndpoint(value: string): boolean {
  const url = parsed(value)
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false
  return !url.search && !url.hash && !url.username && !url.password
}

/** Edits (insert, delete, replace a character) between two names. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1)
      row.push(
        Math.min(
          (previous[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      )
    previous = row
  }
  return previous[b.length] ?? 0
}

function nearest(name: string): string {
  return known
    .filter((candidate) => candidate.startsWith('WHEELHOUSE_'))
    .reduce((best, candidate) => (distance(name, candidate) < distance(name, best) ? candidate : best))
}

/**
 * Reads the settings from `env`. An empty value counts as absent. `directory` is what a relative data directory
 * starts from: where the person called pnpm, which moves to the root itself. Besides the files that `_FILE`
 * settings name, nothing is read.
 *
 * @throws ConfigError with every wrong setting at once
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  directory = env.INIT_CWD || process.cwd(),
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Config {
  const lines: string[] = []
  const given: Partial<Record<Name, string>> = {}
  for (const name of Object.keys(env).sort())
    if (name.startsWith('WHEELHOUSE_') && !known.includes(name))
      lines.push(`${name} is not a setting; the nearest one is ${nearest(name)}`)
  for (const name of Object.keys(settings) as Name[]) {
    const value = env[name]
    const file = secrets.has(name) ? env[`${name}_FILE`] : undefined
    if (value && file) lines.push(`${name} and ${name}_FILE are both set: keep one`)
    else if (value) given[name] = value
    else if (file) {
      try {
        given[name] = readFile(resolve(directory, file)).trim()
      } catch (error) {
        lines.push(
          `${name}_FILE can't be read (${(error as NodeJS.ErrnoException).code ?? 'error'}): ${file}`,
        )
      }
    }
  }
  const result = z.object(settings).safeParse(given)
  if (!result.success) {
    const complained = new Set<PropertyKey>()
    for (const { path, message } of result.error.issues) {
      const name = path[0] ?? ''
      if (!complained.has(name)) lines.push(`${String(name)} ${message}`)
      complained.add(name)
    }
  }
  const [url, name] = [given.WHEELHOUSE_MODEL_URL, given.WHEELHOUSE_MODEL_NAME]
  if (result.success && (url === undefined) !== (name === undefined))
    lines.push(
      `WHEELHOUSE_MODEL_${url === undefined ? 'URL' : 'NAME'} is missing: a model needs both its URL and its name`,
    )
  if (lines.length > 0 || !result.success) throw new ConfigError(lines)
  const { data } = result
  return {
    databaseUrl: data.DATABASE_URL ?? null,
    port: data.WHEELHOUSE_PORT,
    host: data.WHEELHOUSE_HOST,
    dataDirectory: resolve(directory, data.WHEELHOUSE_DATA_DIR),
    bootstrapToken: data.WHEELHOUSE_BOOTSTRAP_TOKEN ?? null,
    logLevel: data.WHEELHOUSE_LOG,
    sample: data.WHEELHOUSE_SAMPLE,
    rateLimit: data.WHEELHOUSE_RATE_LIMIT,
    publicUrl: data.WHEELHOUSE_PUBLIC_URL ?? null,
    model:
      data.WHEELHOUSE_MODEL_URL !== undefined && data.WHEELHOUSE_MODEL_NAME !== undefined
        ? {
            url: data.WHEELHOUSE_MODEL_URL,
            key: data.WHEELHOUSE_MODEL_KEY ?? null,
            name: data.WHEELHOUSE_MODEL_NAME,
            helperContextMaxChars: data.WHEELHOUSE_HELPER_CONTEXT_MAX_CHARS,
          }
        : null,
  }
}
