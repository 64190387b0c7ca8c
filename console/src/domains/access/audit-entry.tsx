import { CloseButton } from '@mantine/core'
import { CopyId } from '../../kit/copy-id.tsx'
import { useNodeAddress } from '../../kit/node-link.ts'
import { Timestamp } from '../../kit/timestamp.tsx'
import { targetName } from './audit-columns.tsx'
import type { AuditRow } from './audit-queries.ts'
import type { AuditSearch } from './search.ts'
import { accessText } from './text.ts'

type AuditEntryPanelProps = {
  entry: AuditRow
  onFilter: (filter: AuditSearch) => void
  onClose: () => void
}

/** One entry whole, with the ways on: only this actor, this action, this target, and the target itself. */
export function AuditEntryPanel({ entry, onFilter, onClose }: AuditEntryPanelProps) {
  const t = accessText.useText()
  const address = useNodeAddress()
  const target = entry.subject ? address(entry.subject) : undefined
  return (
    <aside className="peek" aria-label={t('audit.entry')}>
      <header>
        <h2>{t('audit.entry')}</h2>
        <CloseButton size="sm" aria-label={t('access.close')} onClick={onClose} />
      </header>
      <h3>
        <code>{entry.action}</code>
      </h3>
      <dl>
        <dt>{t('audit.at')}</dt>
        <dd>
          <Timestamp at={entry.at} ledger />
        </dd>
        <dt>{t('audit.actor')}</dt>
        <dd>
          {entry.actor ? (
            <>
              {entry.actor.name} <span className="mute">{t(`access.kinds.${entry.actor.kind}`)}</span>
            </>
          ) : (
            t('audit.system')
          )}
        </dd>
        <dt>{t('audit.target')}</dt>
        <dd>
          {targetName(entry)}{' '}
          {target && (
            <button type="button" className="link-button" onClick={() => void target.go()}>
              {t('audit.openTarget')}
            </button>
          )}
        </dd>
        {entry.subjectId && (
          <>
            <dt>{t('audit.id')}</dt>
            <dd>
              <CopyId id={entry.subjectId} />
            </dd>
          </>
        )}
        {entry.project && (
          <>
            <dt>{t('audit.project')}</dt>
            <dd>{entry.project.name}</dd>
          </>
        )}
        <dt>{t('audit.channel')}</dt>
        <dd>{t(`audit.channels.${entry.channel}`)}</dd>
        {entry.reason && (
          <>
            <dt>{t('audit.reason')}</dt>
            <dd className="peek-words">{entry.reason}</dd>
          </>
        )}
      </dl>
      <div className="peek-filters">
        {entry.actor && (
          <button type="button" className="link-button" onClick={() => onFilter({ actor: entry.actor?.id })}>
            {t('audit.onlyActor')}
          </button>
        )}
        <button type="button" className="link-button" onClick={() => onFilter({ actions: [entry.action] })}>
          {t('audit.onlyAction')}
        </button>
        {entry.subjectId && (
          <button
            type="button"
            className="link-button"
            onClick={() => onFilter({ subject: entry.subjectId ?? undefined })}
          >
            {t('audit.onlyTarget')}
          </button>
        )}
      </div>
      {entry.detail != null && (
        <>
          <h2>{t('audit.detail')}</h2>
          <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
        </>
      )}
    </aside>
  )
}
