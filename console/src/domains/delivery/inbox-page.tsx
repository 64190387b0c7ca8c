export function InboxPage() {
  return <div className="page" />
}
