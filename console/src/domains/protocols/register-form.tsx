import { Button, SegmentedControl } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { useIdempotencyKey } from '../../data/idempotency.ts'
import { type Problem, useCommand } from '../../data/outcome.ts'
import { CodeEditor, type CodePlace } from '../../kit/code-editor.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { usePreferences } from '../../kit/preferences.ts'
import { ProblemNotice } from '../../kit/problem-notice.tsx'
import { useCrumb } from '../../shell/crumbs.tsx'
import { useProject } from '../../shell/viewer.ts'
import { placed, readDefinition } from './definition-check.ts'
import { type Format, textOf } from './definition-text.ts'
import { useDraft } from './draft.ts'
import { firstText } from './first-text.ts'
import { IssueList, issueWords } from './issue-list.tsx'
import { PhaseCanvas } from './phase-canvas.tsx'
import { previewOf } from './preview.ts'
import { type ProtocolRow, RegisterProtocol } from './queries.ts'
import { protocolsText } from './text.ts'

type RegisterFormProps = {
  protocols: readonly ProtocolRow[]
  schema: unknown
  /** What it begins as a copy of. */
  copied: ProtocolRow | undefined
  written: { source: string | null; format: Format | null } | undefined
}

/** The editor, what is wrong at its places, and the phases as they are drawn. Loaded lazily, with all that it needs. */
export function RegisterForm({ protocols, schema, copied, written }: RegisterFormProps) {
  const t = protocolsText.useText()
  const project = useProject()
  const navigate = useNavigate()
  const { language } = usePreferences()
  const register = useCommand(RegisterProtocol)
  const { keyFor } = useIdempotencyKey()
  const [goTo, setGoTo] = useState<CodePlace>()
  const [found, setFound] = useState<Problem['issues']>()
  const [first] = useState(() => {
    const versions = protocols.filter(({ protocolId }) => protocolId === copied?.protocolId)
    const newest = Math.max(0, ...versions.map(({ version }) => version))
    return firstText(copied, written?.source ?? null, written?.format ?? null, newest)
  })
  const { draft, change, forget } = useDraft(project.id, copied?.name, first)
  const title =
    copied && !copied.builtIn ? t('register.newVersion', { title: copied.title }) : t('register.title')
  useCrumb(title)

  const { text, format } = useDeferredValue(draft)
  const { value, issues } = useMemo(
    () => readDefinition(text, format, schema, language),
    [text, format, schema, language],
  )
  // What can't be read here can't be read there, and here its place is known.
  const refused = useMemo(
    () => placed(text, found ?? []).filter(({ path }) => value !== undefined || path.length > 0),
    [text, found, value],
  )
  const flaws = useMemo(
    () =>
      [...issues, ...refused].map((issue) => ({
        from: issue.from,
        to: issue.to,
        message: issueWords(issue),
      })),
    [issues, refused],
  )
  const submit = async () => {
    const input = { projectId: project.id, definition: draft.text, format: draft.format }
    setFound(undefined)
    const outcome = await register.run({ input: { ...input, idempotencyKey: keyFor(input) } })
    if (!outcome.ok) return setFound(outcome.problem.issues)
    forget()
    const { name, protocolId } = outcome.value.protocol
    notifications.show({ message: t('register.done', { name }) })
    await navigate({ to: '/p/$slug/protocols/$protocolId', params: { slug: project.slug, protocolId } })
  }
  const convert = (next: Format) => {
    if (next !== draft.format && value !== undefined) change({ text: textOf(value, next), format: next })
  }
  const isChanged = draft.text !== first.text
  return (
    <div className="page">
      <div className="page-head">
        <h1>{title}</h1>
        <SegmentedControl
          size="xs"
          aria-label={t('definition.format')}
          value={draft.format}
          disabled={value === undefined}
          onChange={(next) => convert(next as Format)}
          data={['YAML', 'JSON']}
        />
        <span className="grow" />
        {isChanged && (
          <Button variant="subtle" size="compact-sm" onClick={() => change(first)}>
            {t('register.again')}
          </Button>
        )}
        <Link className="link" to="/p/$slug/protocols" params={project} onClick={forget}>
          {t('register.leave')}
        </Link>
        <Button size="compact-sm" loading={register.busy} onClick={() => void submit()}>
          {t('register.submit')}
        </Button>
      </div>
      <div className="register">
        <div className="register-text">
          <CodeEditor
            label={t('register.label')}
            language={draft.format}
            value={draft.text}
            onChange={(next) => change({ ...draft, text: next })}
            flaws={flaws}
            goTo={goTo}
          />
          <div className="register-said">
            <div aria-live="polite">
              {issues.length > 0 && (
                <IssueList
                  label={t(value === undefined ? 'register.unreadable' : 'register.wrong')}
                  issues={issues}
                  onGo={setGoTo}
                />
              )}
              {refused.length > 0 && (
                <IssueList label={t('register.refused')} issues={refused} onGo={setGoTo} />
              )}
              {issues.length + refused.length === 0 && !register.problem && (
                <p className="mute">{t('register.right')}</p>
              )}
            </div>
            {!found && <ProblemNotice problem={register.problem} />}
          </div>
        </div>
        <div className="register-graph">
          <Preview value={value} />
        </div>
      </div>
    </div>
  )
}

/** The last that could be read stays while something in between can't. */
function Preview({ value }: { value: unknown }) {
  const t = protocolsText.useText()
  const [kept, setKept] = useState(value)
  if (value !== undefined && value !== kept) setKept(value)
  const [open, setOpen] = useState<string>()
  const { phases, initialPhase } = useMemo(() => previewOf(kept), [kept])
  if (phases.length === 0)
    return <EmptyState title={t('register.noPhases')}>{t('register.noPhasesHint')}</EmptyState>
  return (
    <PhaseCanvas
      name={t('register.draft')}
      phases={phases}
      initialPhase={initialPhase}
      open={open}
      onOpen={setOpen}
    />
  )
}
