/** What the server allows the viewer to do with a record; the browser only reads it. */
type Allowed = readonly { action: string; allowed: boolean; reason: string | null }[] | null | undefined

/** Hidden unless the server names the action; disabled, with its reason, where it names it and refuses. */
export function actionOf(
  actions: Allowed,
  action: string,
): { offered: boolean; allowed: boolean; reason: string | null } {
  const found = actions?.find((each) => each.action === action)
  return { offered: Boolean(found), allowed: found?.allowed ?? false, reason: found?.reason ?? null }
}
