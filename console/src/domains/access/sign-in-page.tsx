export function SignInPage() {
  return <div className="page" />
}
