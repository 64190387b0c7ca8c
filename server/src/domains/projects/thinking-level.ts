import { builder } from '../../graphql/builder.ts'
import { thinkingLevels } from './rules.ts'

/** Apart from the types that use it, so that inputs of several domains can name it while they load. */
export const ThinkingLevelRef = builder.enumType('ThinkingLevel', {
  description: 'How much a model may think before it answers.',
  values: thinkingLevels,
})
