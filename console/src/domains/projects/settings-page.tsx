import { useQuery } from 'urql'
import { problemOf } from '../../data/outcome.ts'
import { FailedState } from '../../kit/empty-state.tsx'
import { AppPending } from '../../shell/pending.tsx'
import { useProject } from '../../shell/viewer.ts'
import { GeneralSettings } from './general-settings.tsx'
import { LimitSettings } from './limit-settings.tsx'
import { ProtocolSettings } from './protocol-settings.tsx'
import { ProjectSettings } from './queries.ts'
import { RuntimeList } from './runtime-list.tsx'
import { projectsText } from './text.ts'
import { ToolSettings } from './tool-settings.tsx'
import './settings.css'

export function SettingsPage() {
  const t = projectsText.useText()
  const { id } = useProject()
  const [{ data, error }, refresh] = useQuery({
    query: ProjectSettings,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const project = data?.project
  const reread = () => refresh({ requestPolicy: 'network-only' })
  if (!project)
    return error ? <FailedState problem={problemOf(error)} onRetry={() => refresh()} /> : <AppPending />
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('settings.title')}</h1>
      </div>
      <div className="page-body">
        <div className="sheet settings">
          <GeneralSettings key={`general ${project.id}`} project={project} onConflict={reread} />
          <ProtocolSettings key={`protocols ${project.id}`} project={project} onConflict={reread} />
          <ToolSettings key={`tools ${project.id}`} project={project} onConflict={reread} />
          <LimitSettings key={`limits ${project.id}`} project={project} onConflict={reread} />
          <RuntimeList projectId={project.id} />
        </div>
      </div>
    </div>
  )
}
