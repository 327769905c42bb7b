import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The daemon for `npm run dev`. It answers only pages of its own, so its address replaces that of the development server.
const daemon = process.env.EASYRETRY_URL ?? 'http://127.0.0.1:7077';
const pass = { target: daemon, changeOrigin: true, headers: { Origin: daemon } };

// Relative URLs, so that the page works under any path prefix. Nothing is inlined: the server's Content-Security-Policy
// forbids inline scripts and styles.
export default defineConfig({
  base: './',
  plugins: [react()],
  // React has this hook itself since version 18; the library that wouter uses for older ones is left out.
  resolve: { alias: { 'use-sync-external-store/shim/index.js': 'react' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': pass, '/metrics': pass } },
  // The limit ends what hangs, not what is slow on a busy machine.
  test: { include: ['tests/unit/**/*.test.ts'], testTimeout: 60_000 },
});
