// A client process with many watchers, one connection each. It counts what arrives and checks that it is in order.
import { WebSocket } from 'ws'

const sequenceOf = /"sequence":(\d+)/

/** Opens watchers; tells the parent once all of this process have an event, and if one comes twice or out of order. */
async function watch({ url, subprotocol, token, subscribe, count }) {
  const arrived = new Map()
  const take = (last, text) => {
    const found = sequenceOf.exec(text)
    if (!found) return last
    const sequence = Number(found[1])
    if (last !== 0 && sequence !== last + 1) process.send({ broken: `${sequence} after ${last}` })
    const so = (arrived.get(sequence) ?? 0) + 1
    if (so === count) {
      arrived.delete(sequence)
      process.send({ arrived: sequence })
    } else arrived.set(sequence, so)
    return sequence
  }
  const open = () =>
    new Promise((resolve, reject) => {
      let last = 0
      const socket = new WebSocket(url, subprotocol ? [subprotocol] : [], { perMessageDeflate: false })
      socket.on('error', reject)
      socket.on('close', (code, reason) => process.send({ broken: `closed: ${code} ${reason}` }))
      socket.on('open', () => {
        if (!subscribe) return resolve()
        socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }))
      })
      socket.on('message', (data) => {
        const text = data.toString()
        if (text.startsWith('{"type":"connection_ack"')) {
          socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: subscribe }))
          // The answer to a ping follows what was sent before it, so the subscription has been read.
          socket.send('{"type":"ping"}')
        } else if (text.startsWith('{"type":"pong"')) resolve()
        else if (text.startsWith('{"type":"ping"')) socket.send('{"type":"pong"}')
        else last = take(last, text)
      })
    })
  for (let opened = 0; opened < count; opened += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - opened) }, open))
  process.send({ ready: true })
}

process.on('message', (message) => void watch(message))
process.send({ started: true })
