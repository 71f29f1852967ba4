// One chunk with all that the first page needs: over HTTP/1.1 a browser has six connections, and each file is a request.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Plugin } from 'vite';

/** What Home, the error page and the layouts around them consist of. */
const ROUTES = [
  '+layout.svelte',
  '+layout.ts',
  '+error.svelte',
  '(app)/+layout.svelte',
  '(app)/+layout.ts',
  '(app)/+page.svelte',
];
const IMPORT = /^\s*(?:import|export)\b(?!\s+type\b)[^'\n]*'([^']+)'/gm;
/** The end of an import of several lines, and a part that the page loads when it is opened. */
const OTHERS = [/^\s*\} from '([^']+)'/gm, /\bimport\('([^']+)'\)/g];
const TEXTS = '#messages/';

/** Paths of the modules of the first page, without packages. */
export const firstPage = (root: string): ReadonlySet<string> => modulesOf(root, [IMPORT]);

/** Features whose texts the first page shows, or a part that is opened on it. */
export function firstTexts(root: string): ReadonlySet<string> {
  const sources = [...modulesOf(root, [IMPORT, ...OTHERS])].map((path) => readFileSync(path, 'utf8'));
  const names = sources.flatMap((text) => [...text.matchAll(IMPORT)].map(([, specifier = '']) => specifier));
  return new Set(names.filter((name) => name.startsWith(TEXTS)).map((name) => basename(name, '.ts')));
}

function modulesOf(root: string, patterns: readonly RegExp[]): ReadonlySet<string> {
  const found = new Set<string>();

  function pathOf(specifier: string, importer: string): string | undefined {
    if (specifier.startsWith(TEXTS)) return join(root, '.messages', specifier.slice(TEXTS.length));
    if (specifier.startsWith('#')) return join(root, 'src', specifier.slice(1));
    if (specifier === 'foyer-client') return resolve(root, '../api/client/index.ts');
    return specifier.startsWith('.') ? resolve(importer, '..', specifier) : undefined;
  }

  function walk(path: string): void {
    if (found.has(path) || !existsSync(path)) return;
    found.add(path);
    const text = readFileSync(path, 'utf8');
    for (const [, specifier = ''] of patterns.flatMap((pattern) => [...text.matchAll(pattern)])) {
      const next = pathOf(specifier, path);
      if (next && /\.(ts|svelte|css)$/.test(next)) walk(next);
    }
  }

  for (const route of ROUTES) walk(join(root, 'src/routes', route));
  return found;
}

const APP = /\/client-optimized\/app\.js$/;
const NODE = /\/client-optimized\/nodes\/\d+\.js$/;
const RUNTIME = 'node_modules/@sveltejs/kit/src/runtime/client';
/** The entry by which Kit's own shell starts; Kit finds its router by the file that it imports. */
const START = 'entry.js';
const PAYLOAD = 'payload.js';

/** Whether a module is Kit's own list of the parts of one of the routes. */
export const isFirstNode = (id: string): boolean =>
  NODE.test(id) && ROUTES.some((route) => readFileSync(id, 'utf8').includes(`/src/routes/${route}"`));

/**
 * Kit's shell loads a start file, then the router and the app, then each layout and page by a file of its own. Here the app holds the
 * router, its `start` and the parts of the first page. The payload of the shell, which is always the same, is known to the build.
 */
export function inOneChunk(root: string, version: string): Plugin {
  const kit = (name: string): string => join(root, RUNTIME, name);
  return {
    name: 'foyer-first-page',
    apply: 'build',
    applyToEnvironment: ({ name }) => name === 'client',
    transform: {
      order: 'pre',
      handler(code, id) {
        if (id === kit(PAYLOAD)) return replaced(code, '__SVELTEKIT_PAYLOAD__', JSON.stringify({ base: '', version }));
        if (id === kit(START)) return `export const app = () => import(${JSON.stringify(appOf(root))});`;
        if (APP.test(id)) return withFirst(code, join(id, '../nodes'), kit('client-entry.js'));
        if (isFirstNode(id)) return withoutNamespace(code, id);
        return undefined;
      },
    },
  };
}

const appOf = (root: string): string => join(root, '.svelte-kit/generated/build/client-optimized/app.js');

function withFirst(code: string, nodes: string, client: string): string {
  const names = readdirSync(nodes).filter((name) => isFirstNode(join(nodes, name)));
  let text = `${code}\nexport { start } from '${client}';\n`;
  for (const name of names) {
    const number = name.slice(0, -3);
    const parts = /\buniversal\b/.test(readFileSync(join(nodes, name), 'utf8'))
      ? ['component', 'universal']
      : ['component'];
    const own = parts.map((part) => `${part} as ${part}${number}`).join(', ');
    const made = parts.map((part) => `${part}: ${part}${number}`).join(', ');
    text = `import { ${own} } from './nodes/${name}';\n${text}`;
    text = replaced(text, `() => import('./nodes/${number}')`, `() => Promise.resolve({ ${made} })`);
  }
  return text;
}

/** In place of a namespace, for which every chunk would import one more file. */
function withoutNamespace(code: string, id: string): string {
  const [line, path = ''] = /^import \* as universal from "([^"]+)";$/m.exec(code) ?? [];
  if (!line) return code;
  const source = readFileSync(join(id, '..', path), 'utf8');
  const names = [...source.matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)].map(([, name = '']) => name);
  const made = `import { ${names.join(', ')} } from "${path}";\nconst universal = { ${names.join(', ')} };`;
  return replaced(code, line, made);
}

/** Fails on a version of Kit that writes its files in another way. */
function replaced(text: string, old: string, by: string): string {
  if (!text.includes(old)) throw new Error(`Kit's own files have no ${old}`);
  return text.replace(old, by);
}
