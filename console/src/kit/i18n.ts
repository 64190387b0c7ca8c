import i18next from 'i18next'
import { useMemo } from 'react'
import { initReactI18next, useTranslation } from 'react-i18next'

/** A domain's words: nested objects of strings; `{{name}}` is filled in, `_one`/`_other` chosen by `count`. */
export type TextTree = { readonly [key: string]: string | TextTree }
/** The Chinese text has exactly the keys of the English one. */
export type SameKeys<Tree> = {
  readonly [Key in keyof Tree]: Tree[Key] extends string ? string : SameKeys<Tree[Key]>
}

type WithoutPlural<Key extends string> = Key extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : Key
export type TextKey<Tree> = {
  [Key in keyof Tree & string]: Tree[Key] extends string ? WithoutPlural<Key> : `${Key}.${TextKey<Tree[Key]>}`
}[keyof Tree & string]
export type Translate<Tree> = (key: TextKey<Tree>, values?: Record<string, string | number>) => string

void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: {},
  interpolation: { escapeValue: false },
  react: { useSuspense: false },
})

/**
 * Registers a domain's words under its namespace and returns what reads them:
 * `export const sessionText = defineText('sessions', en, zh)`, then `const t = sessionText.useText()`.
 */
export function defineText<const Tree extends TextTree>(namespace: string, en: Tree, zh: SameKeys<Tree>) {
  i18next.addResourceBundle('en', namespace, en)
  i18next.addResourceBundle('zh', namespace, zh)
  return {
    /** The translate function in the chosen language; the component renders again when it changes. */
    useText: (): Translate<Tree> => {
      const { t, i18n } = useTranslation(namespace)
      // biome-ignore lint/correctness/useExhaustiveDependencies: the function must change with the language
      return useMemo(() => (key, values) => t(key, values ?? {}), [t, i18n.resolvedLanguage])
    },
    /** For code outside React, for example the name of a downloaded file. */
    text: ((key, values) => i18next.t(`${namespace}:${key}`, values ?? {})) as Translate<Tree>,
    /** The text of a key that is only known at run time, for example a code of the server's. */
    find: (key: string): string | undefined =>
      i18next.exists(`${namespace}:${key}`) ? i18next.t(`${namespace}:${key}`) : undefined,
  }
}

export const changeLanguage = (language: 'en' | 'zh'): void => {
  void i18next.changeLanguage(language)
}
