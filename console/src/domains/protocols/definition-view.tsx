import { Button, SegmentedControl } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMemo } from 'react'
import { useQuery } from 'urql'
import { copyText } from '../../kit/copy-text.ts'
import { asWritten, textOf } from './definition-text.ts'
import { type ProtocolRow, ProtocolSources } from './queries.ts'
import type { ProtocolSearch } from './search.ts'
import { protocolsText } from './text.ts'

type Shown = 'yaml' | 'json' | 'source'
type DefinitionViewProps = {
  projectId: string
  protocol: ProtocolRow
  as: ProtocolSearch['as']
  onAs: (as: ProtocolSearch['as']) => void
}

/** The definition as YAML, as JSON, or word for word as it was registered. Loaded lazily, with the YAML library. */
export function DefinitionView({ projectId, protocol, as, onAs }: DefinitionViewProps) {
  const t = protocolsText.useText()
  const [{ data }] = useQuery({
    query: ProtocolSources,
    variables: { projectId },
    pause: protocol.builtIn,
  })
  const source = data?.protocols.find(({ name }) => name === protocol.name)?.source
  const shown: Shown = as === 'source' && protocol.builtIn ? 'yaml' : (as ?? 'yaml')
  const text = useMemo(() => {
    if (shown === 'source') return source ?? ''
    return textOf(asWritten(protocol.definition), shown === 'json' ? 'JSON' : 'YAML')
  }, [protocol, shown, source])
  return (
    <div className="definition">
      <div className="definition-bar">
        <SegmentedControl
          size="xs"
          aria-label={t('definition.format')}
          value={shown}
          onChange={(value) => onAs(value === 'yaml' ? undefined : (value as 'json' | 'source'))}
          data={[
            { value: 'yaml', label: 'YAML' },
            { value: 'json', label: 'JSON' },
            ...(protocol.builtIn ? [] : [{ value: 'source', label: t('definition.source') }]),
          ]}
        />
        <span className="grow" />
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => {
            void copyText(text)
            notifications.show({ message: t('definition.copied') })
          }}
        >
          {t('definition.copy')}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section tabIndex={0} aria-label={t('definition.label', { name: protocol.name })}>
        <pre>{text}</pre>
      </section>
    </div>
  )
}
