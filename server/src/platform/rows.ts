import { type Db, Prisma, rowsOf, type Tx } from './database.ts'
import type { Ref } from './ids.ts'

/** A table and its columns as Prisma names them: in the database they are the same words with underscores. */
export interface Table {
  name: Prisma.Sql
  columns: Prisma.Sql
}
export function tableOf(name: string, fields: Readonly<Record<string, string>>): Table {
  const columns = Object.values(fields).map(
    (field) => `${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} AS "${field}"`,
  )
  return { name: Prisma.raw(name), columns: Prisma.raw(columns.join(', ')) }
}

/** Rows of a project's table, those that are there, in no order. One statement text however many are asked for. */
export const rowsByRef = <Row>(on: Db | Tx, { name, columns }: Table, refs: readonly Ref[]) =>
  rowsOf<Row>(
    on,
    Prisma.sql`SELECT ${columns} FROM ${name}
                WHERE project_id = ANY (${[...new Set(refs.map((ref) => ref.projectId))]}::uuid[])
                  AND id = ANY (${refs.map((ref) => ref.id)}::uuid[])`,
  )

/** The same for a table outside projects. */
export const rowsById = <Row>(on: Db | Tx, { name, columns }: Table, ids: readonly string[]) =>
  rowsOf<Row>(on, Prisma.sql`SELECT ${columns} FROM ${name} WHERE id = ANY (${[...ids]}::uuid[])`)
