import { Modal } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { graphql } from '../data/graphql.ts'
import { useOfferedCommands } from '../kit/commands.ts'
import { NodeLinkFields, useNodeAddress } from '../kit/node-link.ts'
import { shellText } from './text.ts'
import type { ShellProject } from './viewer.ts'
import '@mantine/spotlight/styles.css'
import './palette.css'

const PaletteSessions = graphql(`
  query PaletteSessions($projectId: ID!, $text: String!) {
    sessions(projectId: $projectId, filter: { text: $text }, first: 8) { nodes { id title state } }
  }
`)
const PaletteProtocols = graphql(`
  query PaletteProtocols($projectId: ID!) {
    protocols(projectId: $projectId) { name protocolId title latest }
  }
`)
const PaletteNode = graphql(
  `
    query PaletteNode($id: ID!) {
      node(id: $id) { ...NodeLinkFields }
    }
  `,
  [NodeLinkFields],
)

const [store, palette] = createSpotlight()

/** What could be a record's id: long, opaque, without spaces. */
const looksLikeId = (text: string): boolean => /^[A-Za-z0-9+/_=-]{16,}$/.test(text)

/** The chosen action, which is the first where none was chosen yet. */
function chooseFirst(): HTMLElement | null {
  const chosen = document.querySelector<HTMLElement>('.mantine-Spotlight-action[data-selected]')
  if (chosen) return chosen
  const first = document.querySelector<HTMLElement>('.mantine-Spotlight-action')
  if (!first) return null
  store.setState({ ...store.getState(), selected: 0 })
  first.setAttribute('data-selected', 'true')
  return first
}

type PaletteProps = {
  project: ShellProject | undefined
  projects: readonly ShellProject[]
  onClose: () => void
}

/** ⌘K: pages, projects, sessions by title, any pasted id, and the commands of the open page. */
export function Palette({ project, projects, onClose }: PaletteProps) {
  const t = shellText.useText()
  const navigate = useNavigate()
  const address = useNodeAddress()
  const [text, setText] = useState('')
  const query = text.trim()
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), 120)
    return () => clearTimeout(timer)
  }, [query])
  useEffect(() => palette.open(), [])

  const isId = looksLikeId(asked)
  const [found] = useQuery({
    query: PaletteSessions,
    variables: { projectId: project?.id ?? '', text: asked },
    pause: !project || asked === '' || isId,
  })
  const [known] = useQuery({
    query: PaletteProtocols,
    variables: { projectId: project?.id ?? '' },
    pause: !project || asked === '',
  })
  const [node] = useQuery({ query: PaletteNode, variables: { id: asked }, pause: !isId })
  const offered = useOfferedCommands()

  const pages = useMemo(() => {
    const all: { label: string; go: () => void }[] = [
      { label: t('nav.health'), go: () => void navigate({ to: '/health' }) },
      { label: t('nav.access'), go: () => void navigate({ to: '/access' }) },
      { label: t('nav.audit'), go: () => void navigate({ to: '/audit' }) },
    ]
    if (!project) return all
    return [
      { label: t('nav.inbox'), go: () => void navigate({ to: '/p/$slug/inbox', params: project }) },
      { label: t('nav.sessions'), go: () => void navigate({ to: '/p/$slug/sessions', params: project }) },
      { label: t('nav.protocols'), go: () => void navigate({ to: '/p/$slug/protocols', params: project }) },
      { label: t('nav.routing'), go: () => void navigate({ to: '/p/$slug/routing', params: project }) },
      { label: t('nav.settings'), go: () => void navigate({ to: '/p/$slug/settings', params: project }) },
      ...all,
    ]
  }, [t, navigate, project])

  const matches = (label: string) => label.toLocaleLowerCase().includes(query.toLocaleLowerCase())
  const shownPages = pages.filter(({ label }) => matches(label))
  const commands = offered.flat().filter(({ label }) => matches(label))
  const otherProjects = projects.filter(({ name, id }) => query !== '' && id !== project?.id && matches(name))
  const sessions = asked !== '' && !isId ? (found.data?.sessions.nodes ?? []) : []
  const protocols =
    query === ''
      ? []
      : (known.data?.protocols ?? []).filter(
          ({ latest, title, name }) => latest && (matches(title) || matches(name)),
        )
  const target = isId && node.data?.node ? address(node.data.node) : undefined
  const searching = query !== asked || found.fetching || node.fetching
  const nothing =
    shownPages.length + commands.length + otherProjects.length + sessions.length + protocols.length === 0 &&
    !target

  // The first find is chosen, so that Enter goes there; an Enter that came before the answer goes there when it is here.
  const entered = useRef<string | null>(null)
  const finds = `${target?.label} ${sessions.map(({ id }) => id)} ${protocols.length} ${commands.length} ${shownPages.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of what is listed is the trigger
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const first = chooseFirst()
      if (first && entered.current === query) first.click()
    })
    return () => cancelAnimationFrame(frame)
  }, [finds])
  const enter = (event: KeyboardEvent) => {
    const early = event.key === 'Enter' && !event.nativeEvent.isComposing && !chooseFirst() && searching
    entered.current = early ? query : null
  }

  return (
    <Spotlight.Root
      query={text}
      onQueryChange={setText}
      onSpotlightClose={onClose}
      store={store}
      shortcut={null}
      centered={false}
      yOffset="12vh"
      overlayProps={{ blur: 0, backgroundOpacity: 0.25 }}
      maxHeight={420}
      scrollable
      transitionProps={{ duration: 120 }}
    >
      <Modal.Title className="visually-hidden">{t('palette.open')}</Modal.Title>
      <Spotlight.Search
        placeholder={t('palette.placeholder')}
        aria-label={t('palette.open')}
        onKeyDown={enter}
      />
      <Spotlight.ActionsList>
        {target && (
          <Spotlight.ActionsGroup label={t('palette.byId')}>
            <Spotlight.Action label={target.label} description={asked} onClick={() => void target.go()} />
          </Spotlight.ActionsGroup>
        )}
        {sessions.length > 0 && project && (
          <Spotlight.ActionsGroup label={t('palette.sessions')}>
            {sessions.map(({ id, title }) => (
              <Spotlight.Action
                key={id}
                label={title}
                onClick={() =>
                  void navigate({
                    to: '/p/$slug/sessions/$sessionId',
                    params: { slug: project.slug, sessionId: id },
                  })
                }
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {protocols.length > 0 && project && (
          <Spotlight.ActionsGroup label={t('nav.protocols')}>
            {protocols.map(({ name, protocolId, title }) => (
              <Spotlight.Action
                key={name}
                label={title}
                description={name}
                onClick={() =>
                  void navigate({
                    to: '/p/$slug/protocols/$protocolId',
                    params: { slug: project.slug, protocolId },
                  })
                }
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {commands.length > 0 && (
          <Spotlight.ActionsGroup label={t('palette.commands')}>
            {commands.map(({ id, label, hint, keys, run }) => (
              <Spotlight.Action
                key={id}
                label={label}
                {...(hint ? { description: hint } : {})}
                {...(keys ? { rightSection: <kbd>{keys}</kbd> } : {})}
                onClick={run}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {shownPages.length > 0 && (
          <Spotlight.ActionsGroup label={t('palette.pages')}>
            {shownPages.map(({ label, go }) => (
              <Spotlight.Action key={label} label={label} onClick={go} />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {otherProjects.length > 0 && (
          <Spotlight.ActionsGroup label={t('palette.projects')}>
            {otherProjects.map((each) => (
              <Spotlight.Action
                key={each.id}
                label={each.name}
                onClick={() => void navigate({ to: '/p/$slug/inbox', params: each })}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {nothing && (
          <Spotlight.Empty>
            {searching ? t('palette.searching') : isId ? t('palette.noId') : t('palette.nothing')}
          </Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
