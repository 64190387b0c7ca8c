import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { refusalCodes } from './refusal.ts'

const codes = new Set<string>(['OK', 'INTERNAL', 'GRAPHQL_INVALID', ...Object.keys(refusalCodes)])

/** A value that is read when somebody asks for it, by the values of its one label. */
type Reading = number | Record<string, number> | null

/** What one server process counts and can be asked for, with bounded sets of labels. */
export interface Metrics {
  registry: Registry
  /** One GraphQL operation was answered. */
  request(operation: string, code: string): void
  /** Declares a value that goes up and down. `label` names what a record of values is by. */
  gauge(name: string, help: string, read: () => Reading, label?: string): void
  /** Declares a value that only rises, and is counted elsewhere. */
  total(name: string, help: string, read: () => Reading, label?: string): void
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'wheelhouse_' })
  const requests = new Counter({
    name: 'wheelhouse_requests_total',
    help: 'GraphQL operations answered, by type and the code of their first error.',
    labelNames: ['operation', 'code'],
    registers: [registry],
  })
  const entries = (reading: Reading, label: string | undefined): [Record<string, string>, number][] => {
    if (reading === null) return []
    if (typeof reading === 'number') return [[{}, reading]]
    return Object.entries(reading).map(([name, value]) => [{ [label ?? 'name']: name }, value])
  }
  return {
    registry,
    request(operation, code) {
      requests.inc({ operation, code: codes.has(code) ? code : 'OTHER' })
    },
    gauge(name, help, read, label) {
      new Gauge({
        name,
        help,
        labelNames: label ? [label] : [],
        registers: [registry],
        collect() {
          this.reset()
          for (const [labels, value] of entries(read(), label)) this.set(labels, value)
        },
      })
    },
    total(name, help, read, label) {
      new Counter({
        name,
        help,
        labelNames: label ? [label] : [],
        registers: [registry],
        collect() {
          this.reset()
          for (const [labels, value] of entries(read(), label)) this.inc(labels, value)
        },
      })
    },
  }
}
