import { Modal } from '@mantine/core'
import { keyCap, useKeyScopes } from '../kit/keys.ts'
import { kitText } from '../kit/text.ts'
import { shellText } from './text.ts'
import './keyboard-sheet.css'

/** Every key that works right now, by where it works. */
export function KeyboardSheet({ onClose }: { onClose: () => void }) {
  const t = shellText.useText()
  const kit = kitText.useText()
  const scopes = useKeyScopes()
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('keys.title')}
      closeButtonProps={{ 'aria-label': kit('close') }}
    >
      <div className="key-sheet">
        {scopes.map((scope) => {
          const shown = scope.bindings.filter(({ hidden }) => !hidden)
          if (shown.length === 0) return null
          return (
            <section key={scope.title}>
              <h2>{scope.title}</h2>
              <dl>
                {shown.map(({ keys, label }) => (
                  <div key={keys}>
                    <dt>
                      {keys.split(' ').map((key) => (
                        <kbd key={key}>{keyCap(key)}</kbd>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
              </dl>
            </section>
          )
        })}
      </div>
    </Modal>
  )
}
