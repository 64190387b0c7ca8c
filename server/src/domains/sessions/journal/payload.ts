import { decodeId } from '../../../platform/ids.ts'
import type { EventRow } from './operations.ts'

/** A field of an event's payload, whatever it is. */
export const fieldOf = (event: EventRow, name: string): unknown =>
  (event.payload as Record<string, unknown> | null)?.[name]

/** A payload's field, if it is a text. */
export const text = (event: EventRow, name: string): string | null => {
  const value = fieldOf(event, name)
  return typeof value === 'string' ? value : null
}

/** A payload's field, if it says yes or no. */
export const flag = (event: EventRow, name: string): boolean | null => {
  const value = fieldOf(event, name)
  return typeof value === 'boolean' ? value : null
}

/** A payload's field, if it is a list of texts; empty otherwise. */
export const texts = (event: EventRow, name: string): string[] => {
  const value = fieldOf(event, name)
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The key that a public id in a payload names. */
export const key = (event: EventRow, name: string): string | null => {
  const id = text(event, name)
  return id ? (decodeId(id)?.id ?? null) : null
}

export const byKey = <T>(loader: { load(id: string): Promise<T | null> }, id: string | null) =>
  id ? loader.load(id) : null

export const byRef = <T>(
  loader: { load(ref: { projectId: string; id: string }): Promise<T | null> },
  e: EventRow,
  id: string | null,
) => (id ? loader.load({ projectId: e.projectId, id }) : null)
