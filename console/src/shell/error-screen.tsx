import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { EmptyState } from '../kit/empty-state.tsx'
import { shellText } from './text.ts'

/** A page that threw: what happened, that nothing recorded is affected, and two ways on. */
export function ErrorScreen({ error, reset }: { error: unknown; reset: () => void }) {
  const t = shellText.useText()
  const router = useRouter()
  const message = error instanceof Error ? error.message : String(error)
  const offline = message === 'NETWORK'
  return (
    <section>
      <EmptyState
        title={offline ? t('error.offline') : t('error.title')}
        action={
          <Button
            variant="default"
            onClick={() => {
              // After an upgrade the code of this page has another name: only a full load finds it.
              if (/imported module|module script/i.test(message)) return location.reload()
              reset()
              void router.invalidate()
            }}
          >
            {t('error.reload')}
          </Button>
        }
      >
        {offline ? undefined : t('error.hint')}
        {!offline && <code className="error-detail">{message}</code>}
      </EmptyState>
    </section>
  )
}

export function NotFoundScreen() {
  const t = shellText.useText()
  const router = useRouter()
  return (
    <EmptyState
      title={t('error.notFound')}
      action={
        <Button variant="default" onClick={() => void router.navigate({ to: '/' })}>
          {t('error.home')}
        </Button>
      }
    />
  )
}
