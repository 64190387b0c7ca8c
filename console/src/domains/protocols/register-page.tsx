import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useQuery } from 'urql'
import { problemOf } from '../../data/outcome.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { useProject } from '../../shell/viewer.ts'
import { ProtocolSchema, ProtocolSources } from './queries.ts'
import { useProtocols } from './use-protocols.ts'
import './protocols.css'
import './register.css'

const RegisterForm = lazy(() =>
  import('./register-form.tsx').then(({ RegisterForm }) => ({ default: RegisterForm })),
)

/** A protocol is written, or the next version of one; what it begins with is read first. */
export function RegisterPage() {
  const project = useProject()
  const { from } = useSearch({ from: '/app/p/$slug/protocols/new/draft' })
  const { protocols, problem, reread } = useProtocols(project.id)
  const [schema, readSchema] = useQuery({ query: ProtocolSchema })
  const [sources, readSources] = useQuery({
    query: ProtocolSources,
    variables: { projectId: project.id },
    requestPolicy: 'network-only',
    pause: from === undefined,
  })
  const error = schema.error ?? sources.error
  if (problem && !protocols) return <FailedState problem={problem} onRetry={reread} />
  if (error) {
    const retry = () => {
      readSchema({ requestPolicy: 'network-only' })
      if (from !== undefined) readSources()
    }
    return <FailedState problem={problemOf(error)} onRetry={retry} />
  }
  if (!protocols || !schema.data || (from !== undefined && !sources.data)) return <AppPending />
  const copied = protocols.find(({ name }) => name === from)
  const written = sources.data?.protocols.find(({ name }) => name === from)
  return (
    <Suspense fallback={<AppPending />}>
      <RegisterForm
        key={from ?? ''}
        protocols={protocols}
        schema={schema.data.protocolSchema}
        copied={copied}
        written={written}
      />
    </Suspense>
  )
}
