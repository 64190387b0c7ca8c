import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Problem } from '../../data/outcome.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { authChanged, authState, signIn } from '../../shell/auth.ts'
import { EntryPage } from './entry-page.tsx'
import { accessText } from './text.ts'

/** Where to go after signing in: only a path of this console, never another origin. */
const safePath = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/')

export function SignInPage() {
  const t = accessText.useText()
  const navigate = useNavigate()
  const { next } = useSearch({ from: '/sign-in' })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()

  useEffect(() => {
    document.title = `${t('signIn.title')} · Wheelhouse`
  }, [t])
  useEffect(() => {
    authState().then(
      ({ needsFirstOwner, signedIn }) => {
        if (needsFirstOwner) void navigate({ to: '/welcome' })
        else if (signedIn) void navigate({ href: safePath(next) })
      },
      () => {},
    )
  }, [navigate, next])

  const submit = async () => {
    setBusy(true)
    setProblem(undefined)
    const answer = await signIn({ email: email.trim(), password })
    setBusy(false)
    if (!answer.ok) {
      const unanswered = answer.problem.code === 'NETWORK' || answer.problem.code === 'RATE_LIMITED'
      setProblem(
        unanswered
          ? answer.problem
          : { code: answer.problem.code, message: t('signIn.wrong'), retryable: false },
      )
      return
    }
    authChanged()
    await navigate({ href: safePath(next) })
  }
  return (
    <EntryPage>
      <h1>{t('signIn.title')}</h1>
      <p className="entry-lead">{t('signIn.noAccount')}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('signIn.password')}
          name="password"
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ProblemNotice problem={problem} />
        <Button type="submit" size="sm" loading={busy}>
          {t('signIn.submit')}
        </Button>
      </form>
    </EntryPage>
  )
}
