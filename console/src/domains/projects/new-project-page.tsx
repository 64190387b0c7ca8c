export function NewProjectPage() {
  return <div className="page" />
}
