import { Button, PasswordInput, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Problem } from '../../data/outcome.ts'
import { issueOf, ProblemNotice } from '../../kit/problem-notice.tsx'
import { authChanged, authState, type Invitation, readInvitation, redeem } from '../../shell/auth.ts'
import { EntryPage } from './entry-page.tsx'
import { accessText } from './text.ts'

const codeOfAddress = (): string => new URLSearchParams(location.hash.slice(1)).get('code') ?? ''

type Found = { phase: 'asking' | 'none' | 'gone' } | { phase: 'ready'; invitation: Invitation }

function onAddress(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}

/**
 * The first owner's one-time link and an invited person's alike; the code never reaches a server log. A link that is
 * pasted where this page is open already loads nothing anew, and is taken up all the same.
 */
export function WelcomePage() {
  const code = useSyncExternalStore(onAddress, codeOfAddress)
  return <Welcome key={code} code={code} />
}

function Welcome({ code }: { code: string }) {
  const t = accessText.useText()
  const navigate = useNavigate()
  const [found, setFound] = useState<Found>({ phase: code ? 'asking' : 'none' })

  useEffect(() => {
    document.title = `${t('welcome.ownerTitle')} · Wheelhouse`
  }, [t])
  useEffect(() => {
    if (!code) {
      authState().then(
        ({ needsFirstOwner }) => !needsFirstOwner && void navigate({ to: '/', replace: true }),
        () => {},
      )
      return
    }
    void readInvitation(code).then((answer) =>
      setFound(answer.ok ? { phase: 'ready', invitation: answer.value } : { phase: 'gone' }),
    )
  }, [code, navigate])

  if (found.phase === 'asking') return <EntryPage>{null}</EntryPage>
  if (found.phase !== 'ready') {
    const gone = found.phase === 'gone'
    return (
      <EntryPage>
        <h1>{t(gone ? 'welcome.goneTitle' : 'welcome.noCodeTitle')}</h1>
        <p className="entry-lead">{t(gone ? 'welcome.goneLead' : 'welcome.noCodeLead')}</p>
        {!gone && <pre>{location.origin}/welcome#code=…</pre>}
        {gone && (
          <Link to="/sign-in" className="link">
            {t('welcome.signInInstead')}
          </Link>
        )}
      </EntryPage>
    )
  }
  return <RedeemForm code={code} invitation={found.invitation} />
}

function RedeemForm({ code, invitation }: { code: string; invitation: Invitation }) {
  const t = accessText.useText()
  const navigate = useNavigate()
  const first = invitation.kind === 'FIRST_OWNER'
  const [name, setName] = useState(invitation.name ?? '')
  const [email, setEmail] = useState(invitation.email ?? '')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()

  const submit = async () => {
    setBusy(true)
    setProblem(undefined)
    const answer = await redeem({ code, name: name.trim(), email: email.trim(), password })
    setBusy(false)
    if (!answer.ok) return setProblem(answer.problem)
    authChanged()
    await navigate({ to: first ? '/projects/new' : '/', replace: true })
  }
  return (
    <EntryPage>
      {first && <p className="entry-step num">{t('welcome.step', { step: 1 })}</p>}
      <h1>{t(first ? 'welcome.ownerTitle' : 'welcome.inviteTitle')}</h1>
      <p className="entry-lead">{t(first ? 'welcome.ownerLead' : 'welcome.inviteLead')}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label={t('welcome.name')}
          name="name"
          autoComplete="name"
          required
          autoFocus
          maxLength={120}
          value={name}
          error={issueOf(problem, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={t('welcome.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          error={issueOf(problem, 'email')}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('welcome.password')}
          description={t('welcome.passwordHint')}
          name="password"
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
          required
          minLength={12}
          value={password}
          error={issueOf(problem, 'password')}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ProblemNotice problem={problem} />
        <Button type="submit" size="sm" loading={busy}>
          {t(first ? 'welcome.submitOwner' : 'welcome.submitInvite')}
        </Button>
      </form>
    </EntryPage>
  )
}
