export function AccessPage() {
  return <div className="page" />
}
