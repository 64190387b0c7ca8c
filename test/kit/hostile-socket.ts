import WebSocket from 'ws'
import { eventually } from './eventually.ts'

interface Frame {
  id?: string
  type: string
  payload?: unknown
}

/** A WebSocket that speaks whatever it is told to, frame by frame. */
export class RawSocket {
  readonly frames: Frame[] = []
  closed: { code: number; reason: string } | null = null
  readonly #socket: WebSocket

  constructor(
    url: string,
    protocols: string | string[] = 'graphql-transport-ws',
    headers: Record<string, string> = {},
  ) {
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, protocols, { headers })
    this.#socket.on('message', (data) => this.frames.push(JSON.parse(String(data)) as Frame))
    this.#socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
    })
    this.#socket.on('error', () => undefined)
  }

  async opened(): Promise<this> {
    await eventually(() => this.#socket.readyState !== WebSocket.CONNECTING)
    return this
  }
  /** Opened, and let in by this token. */
  async signedIn(token: unknown, more: object = {}): Promise<this> {
    await this.opened()
    this.send({ type: 'connection_init', payload: { token, ...more } })
    await eventually(() => this.closed !== null || this.frames.some(({ type }) => type === 'connection_ack'))
    return this
  }
  send(frame: object | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }
  ask(id: string, query: string, variables: object = {}): void {
    this.send({ id, type: 'subscribe', payload: { query, variables } })
  }
  /** Bytes below the protocol of WebSockets. */
  raw(bytes: Buffer): void {
    ;(this.#socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(bytes)
  }
  about(id: string): Frame[] {
    return this.frames.filter((frame) => frame.id === id)
  }
  /** How the server closed it. */
  async end(): Promise<{ code: number; reason: string }> {
    await eventually(() => this.closed !== null)
    return this.closed as { code: number; reason: string }
  }
  terminate(): void {
    this.#socket.terminate()
  }
}
