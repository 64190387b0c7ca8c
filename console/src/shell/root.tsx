import { MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import { RouterProvider } from '@tanstack/react-router'
import { useLayoutEffect, useMemo } from 'react'
import { changeLanguage } from '../kit/i18n.ts'
import { usePreferences } from '../kit/preferences.ts'
import { kitText } from '../kit/text.ts'
import { router } from './router.tsx'
import { cssVariables, theme } from './theme.ts'

export function Root() {
  const chosen = usePreferences()
  const systemDark = useMediaQuery('(prefers-color-scheme: dark)', undefined, {
    getInitialValueInEffect: false,
  })
  const dark = chosen.theme === 'system' ? systemDark : chosen.theme === 'dark'
  useLayoutEffect(() => {
    changeLanguage(chosen.language)
    document.documentElement.lang = chosen.language === 'zh' ? 'zh-CN' : 'en'
  }, [chosen.language])
  const t = kitText.useText()
  const named = useMemo(() => {
    const closeButtonProps = { 'aria-label': t('close') }
    return mergeThemeOverrides(theme, {
      components: { Notification: { defaultProps: { closeButtonProps } } },
    })
  }, [t])
  return (
    <MantineProvider
      theme={named}
      cssVariablesResolver={cssVariables}
      forceColorScheme={dark ? 'dark' : 'light'}
    >
      <Notifications position="bottom-right" autoClose={5000} />
      <RouterProvider router={router} />
    </MantineProvider>
  )
}
