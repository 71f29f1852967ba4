import { resolve } from 'node:path';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { shellAdapter } from './vite/adapter.ts';
import { firstPage } from './vite/first-page.ts';
import { messages } from './vite/messages.ts';
import { sourcesHash } from './vite/sources.ts';

const root = import.meta.dirname;

const first = firstPage(root);

/**
 * What the first page needs, in few files: over HTTP/1.1 a browser has six connections. No group takes the imports of its modules,
 * since with Kit's own modules in one a wrong address loads for ever; `base` is complete without them, or a module of it would run
 * before what it needs.
 */
const SPLITTING = {
  includeDependenciesRecursively: false,
  groups: [
    {
      name: 'vendor',
      test: /\/node_modules\/(svelte|@tanstack|esm-env|clsx|eventsource-parser)\/|preload-helper|rolldown\/runtime/,
    },
    { name: 'base', test: (id: string) => first.has(id.split('?')[0] ?? '') },
  ],
};

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
  environments: {
    client: {
      build: { rolldownOptions: { preserveEntrySignatures: 'allow-extension', output: { codeSplitting: SPLITTING } } },
    },
  },
  worker: { format: 'es' },
  server: {
    fs: { allow: [resolve(root, '../api/client')] },
    proxy: { '/api': { target: process.env['FOYER_SERVER'] ?? 'http://127.0.0.1:8080' } },
  },
});
