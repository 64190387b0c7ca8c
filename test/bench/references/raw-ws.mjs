// The least that can be done: one text, sent to every socket.
import { WebSocketServer } from 'ws'

const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
process.on('message', ({ events }) => {
  for (const event of events) {
    const text = JSON.stringify({ id: '1', type: 'next', payload: { data: { sessionEvents: event } } })
    for (const socket of sockets.clients) socket.send(text)
  }
})
sockets.on('listening', () => process.send({ port: sockets.address().port }))
