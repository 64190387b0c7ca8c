import { NativeSelect } from '@mantine/core'
import { useQuery } from 'urql'
import { TaskProtocols } from './task-queries.ts'

type ProtocolSelectProps = {
  projectId: string
  label: string
  value: string
  /** What stands first: for nothing chosen, or the present protocol that stays. */
  first?: { value: string; label: string } | undefined
  /** A protocol id that is not offered. */
  without?: string | undefined
  error?: string | undefined
  onChange: (value: string) => void
}

/** The newest version of each protocol that the project allows. */
export function ProtocolSelect({
  projectId,
  label,
  value,
  first,
  without,
  error,
  onChange,
}: ProtocolSelectProps) {
  const [{ data }] = useQuery({ query: TaskProtocols, variables: { projectId } })
  const offered = (data?.protocols ?? []).filter(
    ({ latest, allowed, protocolId, name }) =>
      latest && allowed && protocolId !== without && name !== first?.value,
  )
  return (
    <NativeSelect
      label={label}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {first && <option value={first.value}>{first.label}</option>}
      {offered.map(({ name, title }) => (
        <option key={name} value={name}>
          {title} · {name}
        </option>
      ))}
    </NativeSelect>
  )
}
