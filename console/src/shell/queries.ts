import { graphql } from '../data/graphql.ts'

export const ShellQuery = graphql(`
  query Shell {
    viewer { principal { id name email } capabilities }
    projects(first: 100) { nodes { id slug name } }
  }
`)

/** One project by its address; the shell asks it for what is not among the first hundred. */
export const ProjectOfAddress = graphql(`
  query ProjectOfAddress($slug: String!) {
    project(slug: $slug) { id slug name }
  }
`)
