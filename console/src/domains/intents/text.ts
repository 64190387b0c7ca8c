import { defineText } from '../../kit/i18n.ts'
import { en } from './text.en.ts'
import { zh } from './text.zh.ts'

export const taskText = defineText('intents', en, zh)
