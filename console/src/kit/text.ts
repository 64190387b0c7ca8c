import { defineText } from './i18n.ts'
import { en } from './text.en.ts'
import { zh } from './text.zh.ts'

export const kitText = defineText('kit', en, zh)
