import { resolve } from 'node:path';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { shellAdapter } from './vite/adapter.ts';
import { firstPage, inOneChunk, isFirstNode } from './vite/first-page.ts';
import { messages, writeMessages } from './vite/messages.ts';
import { sourcesHash } from './vite/sources.ts';
import { usedRoutes } from './vite/used-routes.ts';

const root = import.meta.dirname;

const version = sourcesHash(root);
writeMessages(root); // before the imports of the first page are read, which has texts
const first = firstPage(root);

const PACKAGES =
  /\/node_modules\/(svelte|@tanstack|esm-env|clsx|devalue|eventsource-parser|@fontsource-variable|@sveltejs\/kit)\/|preload-helper/;
/** Kit finds its router by the file of this module. */
const ENTRY = /\/runtime\/client\/entry\.js$/;

const SPLITTING = {
  includeDependenciesRecursively: false,
  groups: [
    {
      name: 'base',
      test: (id: string) =>
        !ENTRY.test(id) && (PACKAGES.test(id) || isFirstNode(id) || first.has(id.split('?')[0] ?? '')),
    },
  ],
};

export default defineConfig({
  plugins: [
    messages(root),
    usedRoutes(root),
    inOneChunk(root, version),
    sveltekit({
      adapter: shellAdapter(),
      version: { name: version },
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
