import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const TABLE = /\/api\/client\/areas\/routes\.ts$/;
const ENTRY = /^ {2}(\w+): '.*\n/gm;

const sourcesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(folder, { recursive, encoding: 'utf8' })
    .filter((name) => /\.(ts|svelte)$/.test(name))
    .map((name) => join(folder, name));

/** Every word of the sources of the app and of the client itself, among which are the operations that they call. */
function wordsOf(root: string): ReadonlySet<string> {
  const files = [...sourcesIn(join(root, 'src'), true), ...sourcesIn(join(root, '../api/client'), false)];
  return new Set(files.flatMap((name) => readFileSync(name, 'utf8').match(/\w+/g) ?? []));
}

/** Leaves operations out of the client's table that no source of the app names: they are a part of every first load. */
export const usedRoutes = (root: string): Plugin => ({
  name: 'foyer-used-routes',
  enforce: 'pre', // the table as it is written
  apply: 'build',
  transform(code, id) {
    if (!TABLE.test(id)) return undefined;
    const words = wordsOf(root);
    return { code: code.replace(ENTRY, (line, name: string) => (words.has(name) ? line : '')), map: null };
  },
});
