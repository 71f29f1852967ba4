import { resolve } from 'node:path';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { shellAdapter } from './vite/adapter.ts';
import { messages } from './vite/messages.ts';
import { sourcesHash } from './vite/sources.ts';

const root = import.meta.dirname;

/**
 * What every page needs, in few files: over HTTP/1.1 a browser has six connections. A group takes the imports of its modules too, so
 * none may hold a module that imports Kit: with Kit's own modules in it, a wrong address loads for ever.
 */
const SPLITTING = {
  groups: [
    { name: 'vendor', test: /\/node_modules\/(svelte|@tanstack|esm-env|clsx|eventsource-parser)\// },
    {
      name: 'base',
      test: /\/web\/src\/(core\/(api|browser|cache|events|messages)|ui)\/|\/api\/client\/|\/\.messages\/(ui|errors|shell)\.ts/,
    },
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
  environments: { client: { build: { rolldownOptions: { output: { codeSplitting: SPLITTING } } } } },
  worker: { format: 'es' },
  server: {
    fs: { allow: [resolve(root, '../api/client')] },
    proxy: { '/api': { target: process.env['FOYER_SERVER'] ?? 'http://127.0.0.1:8080' } },
  },
});
