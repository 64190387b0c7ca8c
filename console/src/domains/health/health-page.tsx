export function HealthPage() {
  return <div className="page" />
}
