import { useViewer } from '../../shell/viewer.ts'

/** Whether the viewer may register protocols anywhere; where not, the server says so. */
export function useMayRegister(): boolean {
  const { capabilities } = useViewer()
  return capabilities.includes('protocol.register') || capabilities.includes('project.own')
}
