import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a model would decide. */
export const decision = (more: object = {}) => ({
  target: 'AGENT',
  protocol: 'general-task',
  version: 1,
  relation: 'REFINE',
  confidence: { target: 0.9, protocol: 0.9, relation: 0.9 },
  reasons: ['ADDS_A_CONDITION'],
  ...more,
})

export interface ModelServer {
  url: string
  /** What it was asked, in order. */
  calls: { system: string; user: string; temperature: number; authorization: string | undefined }[]
  /** What it says from now on: a text, or the whole of the answering. */
  says(answer: string | ((response: ServerResponse) => void)): void
  /** What it says from now on to each question. */
  answers(answer: (question: string) => string): void
  close(): Promise<void>
}

/** A server that speaks the protocol of OpenAI's chat completions. */
export async function startModel(): Promise<ModelServer> {
  const calls: ModelServer['calls'] = []
  let answer: string | ((response: ServerResponse) => void) = JSON.stringify(decision())
  let answering: ((question: string) => string) | null = null
  const read = async (request: IncomingMessage) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    return JSON.parse(text) as { messages: { role: string; content: string }[]; temperature: number }
  }
  const server = createServer(async (request, response) => {
    const { messages, temperature } = await read(request)
    const said = (role: string) => messages.find((message) => message.role === role)?.content ?? ''
    calls.push({
      system: said('system'),
      user: said('user'),
      temperature,
      authorization: request.headers.authorization,
    })
    if (!answering && typeof answer === 'function') return answer(response)
    const content = answering ? answering(said('user')) : answer
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 0,
        model: 'test',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    says(next) {
      answer = next
      answering = null
    },
    answers(next) {
      answering = next
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
