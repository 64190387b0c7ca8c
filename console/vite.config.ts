import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'

export default defineConfig(({ mode }) => {
  const { WHEELHOUSE_PORT = '4600' } = loadEnv(mode, '.', 'WHEELHOUSE_')
  const server = `http://127.0.0.1:${WHEELHOUSE_PORT}`
  return {
    plugins: [react()],
    build: {
      // The server sends `script-src 'self'` and `font-src 'self'`: nothing may become a data: address.
      assetsInlineLimit: 0,
      target: 'es2022',
      // The server compares the first load with its budget, so the entry must be recognizable.
      manifest: true,
      chunkSizeWarningLimit: 400,
    },
    server: {
      proxy: {
        '/graphql': { target: server, ws: true },
        '/auth': server,
        '/api': server,
        '/exports': server,
      },
    },
  }
})
