import type { ReactNode } from 'react'
import { useQuery } from 'urql'
import { kitText } from '../../../kit/text.ts'
import type { Source } from './fork-dialog.tsx'
import { CheckpointPlace, PlaceMessage, RunPlace } from './fork-queries.ts'
import { forksText } from './text.ts'

type Place = { kind: 'checkpoint' | 'run'; id: string } | undefined
type Task = Source['intent']
type Said = { text: string; author: { name: string } }

/** What a fork from a place (undefined: from now) will see: its task, and its transcript up to where. */
export function ForkSight({ session, place }: { session: Source; place: Place }) {
  if (place?.kind === 'run') return <BeforeRun id={place.id} />
  if (place) return <AtCheckpoint session={session} id={place.id} />
  const last = session.messages.nodes[0]
  return <Sight task={session.intent} upTo={last?.sequence ?? 0} said={last} />
}

function AtCheckpoint({ session, id }: { session: Source; id: string }) {
  const words = kitText.useText()
  const [{ data }] = useQuery({ query: CheckpointPlace, variables: { id } })
  const found = data?.node?.__typename === 'Checkpoint' ? data.node : undefined
  const sequence = found?.messageSequence ?? 0
  const [{ data: message }] = useQuery({
    query: PlaceMessage,
    variables: { id: session.id, sequence },
    pause: sequence === 0,
  })
  if (!found) return <p className="mute">{words('loading')}</p>
  const detail = message?.session?.event?.detail
  const said = detail?.__typename === 'MessageDetail' ? (detail.message ?? undefined) : undefined
  return <Sight task={found.intent} upTo={sequence} said={said} />
}

function BeforeRun({ id }: { id: string }) {
  const t = forksText.useText()
  const words = kitText.useText()
  const [{ data }] = useQuery({ query: RunPlace, variables: { id } })
  const run = data?.run
  if (!run) return <p className="mute">{words('loading')}</p>
  return (
    <Sight task={run.binding.base}>
      <p>{t('dialog.upToRun', { number: run.number })}</p>
      <blockquote>{run.message.text}</blockquote>
    </Sight>
  )
}

type SightProps = { task: Task; upTo?: number; said?: Said | undefined; children?: ReactNode }

function Sight({ task, upTo, said, children }: SightProps) {
  const t = forksText.useText()
  const met = task?.requirements.filter(({ state }) => state === 'MET').length ?? 0
  return (
    <section className="fork-sight" aria-label={t('dialog.sees')}>
      <h2>{t('dialog.sees')}</h2>
      <dl>
        <dt>{t('dialog.task')}</dt>
        <dd>
          {task ? (
            <>
              <span className="fork-flag num">{t('revision', { number: task.number })}</span>{' '}
              <code>{task.protocol}</code>
              <p className="fork-text">{task.text}</p>
              {task.requirements.length > 0 && (
                <p className="mute">{t('dialog.requirements', { count: task.requirements.length, met })}</p>
              )}
            </>
          ) : (
            <p className="mute">{t('dialog.noTask')}</p>
          )}
        </dd>
        <dt>{t('dialog.transcript')}</dt>
        <dd>
          {children ?? (
            <>
              <p>
                {!upTo
                  ? t('dialog.nothingSaid')
                  : said
                    ? t('dialog.upTo', { sequence: upTo, author: said.author.name })
                    : t('dialog.upToOnly', { sequence: upTo })}
              </p>
              {said && <blockquote>{said.text}</blockquote>}
            </>
          )}
        </dd>
      </dl>
      <p className="mute">{t('dialog.later')}</p>
    </section>
  )
}
