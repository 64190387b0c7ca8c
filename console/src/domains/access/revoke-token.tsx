import { useCommand } from '../../data/outcome.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { RevokeToken, type TokenRow } from './access-queries.ts'
import { accessText } from './text.ts'

type RevokeTokenDialogProps = { token: TokenRow; onClose: () => void; onRevoked: () => void }

export function RevokeTokenDialog({ token, onClose, onRevoked }: RevokeTokenDialogProps) {
  const t = accessText.useText()
  const revoke = useCommand(RevokeToken)
  const confirm = async (reason: string) => {
    const outcome = await revoke.run({ input: { tokenId: token.id, reason: reason || null } })
    if (!outcome.ok) return
    onRevoked()
    onClose()
  }
  return (
    <Confirm
      opened
      title={t('access.revokeTokenTitle', { name: token.name })}
      verb={t('access.revokeToken')}
      danger
      reason="optional"
      busy={revoke.busy}
      problem={revoke.problem}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      {t('access.revokeTokenEffect')}
    </Confirm>
  )
}
