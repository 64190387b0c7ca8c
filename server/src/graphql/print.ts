import { printSchema } from 'graphql'
import { schema } from './schema.ts'

/** The committed form of the schema. */
export const printed = `${printSchema(schema)}\n`
