import { kitText } from './text.ts'
import './filter-chip.css'

/** One filter in force, in words, with the way to remove it: no filter is ever invisible. */
export function FilterChip({ label, onRemove }: { label: string; onRemove: () => void }) {
  const t = kitText.useText()
  return (
    <span className="filter-chip">
      <span className="truncate">{label}</span>
      <button type="button" aria-label={t('removeFilter', { name: label })} onClick={onRemove}>
        ×
      </button>
    </span>
  )
}
