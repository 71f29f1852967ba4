import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const TABLE = /\/api\/client\/areas\/routes\.ts$/;
const ENTRY = /^ {2}(\w+): '.*\n/gm;

/** Every word of the app's sources, among which are the operations that it calls. */
function wordsOf(root: string): ReadonlySet<string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => /\.(ts|svelte)$/.test(name));
  return new Set(sources.flatMap((name) => readFileSync(join(root, 'src', name), 'utf8').match(/\w+/g) ?? []));
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
