import { resolve } from 'node:path';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { shellAdapter } from './vite/adapter.ts';
import { messages } from './vite/messages.ts';
import { sourcesHash } from './vite/sources.ts';

const root = import.meta.dirname;

export default defineConfig({
  plugins: [
    messages(root),
    sveltekit({
      adapter: shellAdapter(),
      version: { name: sourcesHash(root) },
      paths: { relative: false },
    }),
  ],
  resolve: {
    alias: { 'foyer-client': resolve(root, '../api/client/index.ts') },
    dedupe: ['eventsource-parser'], // the client's own import, from the packages of this folder
  },
  build: { target: 'es2023' },
  worker: { format: 'es' },
  server: {
    fs: { allow: [resolve(root, '../api/client')] },
    proxy: { '/api': { target: process.env['FOYER_SERVER'] ?? 'http://127.0.0.1:8080' } },
  },
});
