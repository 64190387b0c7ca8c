import { createContext, use } from 'react'

export type ShellProject = { id: string; slug: string; name: string }
export type ShellViewer = { id: string; name: string; email: string | null; capabilities: readonly string[] }

export const ViewerContext = createContext<ShellViewer | undefined>(undefined)
export const ProjectContext = createContext<ShellProject | undefined>(undefined)

/** The signed-in principal with its capabilities anywhere; inside the shell only. */
export function useViewer(): ShellViewer {
  const viewer = use(ViewerContext)
  if (!viewer) throw new Error('useViewer outside the shell')
  return viewer
}

/** The project of the address; below `/p/$slug` only. */
export function useProject(): ShellProject {
  const project = use(ProjectContext)
  if (!project) throw new Error('useProject outside a project')
  return project
}
