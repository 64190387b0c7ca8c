import { routingText } from './text.ts'

/** A warning in words; a code that is not known here is its own name. */
export const warningWords = (code: string): string => routingText.find(`warning.${code}`) ?? code
export const reasonWords = (code: string): string | undefined => routingText.find(`reason.${code}`)
