export function SessionsPage() {
  return <div className="page" />
}
