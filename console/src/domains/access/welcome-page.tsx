export function WelcomePage() {
  return <div className="page" />
}
