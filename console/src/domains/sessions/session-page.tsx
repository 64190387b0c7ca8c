export function SessionPage() {
  return <div className="page" />
}
