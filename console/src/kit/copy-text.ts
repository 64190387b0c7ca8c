/** Copies text; on plain HTTP, where the clipboard API is missing, through a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  const host = document.querySelector('[aria-modal="true"]') ?? document.body
  host.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
