// The modules of the app that Home needs before its first paint, found by their imports.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROUTES = [
  '+layout.svelte',
  '+layout.ts',
  '+error.svelte',
  '(app)/+layout.svelte',
  '(app)/+layout.ts',
  '(app)/+page.svelte',
];
const IMPORT = /^\s*(?:import|export)\b(?!\s+type\b)[^'\n]*'([^']+)'/gm;

/** Paths of the modules, without the routes, which are entries, and without packages. */
export function firstPage(root: string): ReadonlySet<string> {
  const routes = join(root, 'src/routes');
  const found = new Set<string>();

  function pathOf(specifier: string, importer: string): string | undefined {
    if (specifier.startsWith('#messages/')) return join(root, '.messages', specifier.slice('#messages/'.length));
    if (specifier.startsWith('#')) return join(root, 'src', specifier.slice(1));
    if (specifier === 'foyer-client') return resolve(root, '../api/client/index.ts');
    return specifier.startsWith('.') ? resolve(importer, '..', specifier) : undefined;
  }

  function walk(path: string): void {
    if (found.has(path) || !existsSync(path)) return;
    found.add(path);
    for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
      const next = pathOf(specifier, path);
      if (next && /\.(ts|svelte)$/.test(next)) walk(next);
    }
  }

  for (const route of ROUTES) walk(join(routes, route));
  return new Set([...found].filter((path) => !path.startsWith(routes)));
}
