// adapter-static, with a shell that paints before any script: it links its style sheet and the font of the first text, and has the icon.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import adapter from '@sveltejs/adapter-static';
import type { Adapter } from '@sveltejs/kit';

const BUILD = 'build';
const SHELL = 'index.html';
const ASSETS = '_app/immutable/assets';
const ICON = '/favicon.svg';
const FONT = /^inter-latin-wght-normal\..*woff2$/;

export function shellAdapter(): Adapter {
  const plain = adapter({ pages: BUILD, assets: BUILD, fallback: SHELL, precompress: false });
  return {
    name: 'foyer-shell',
    async adapt(builder) {
      await plain.adapt(builder);
      writeFileSync(join(BUILD, SHELL), completed(readFileSync(join(BUILD, SHELL), 'utf8')));
      await builder.compress(BUILD);
    },
  };
}

const START = /<div id="app">\s*<script>.*?<\/script>\s*<\/div>/s;
const LINK = /<link href="([^"]+)" rel="modulepreload">\s*/g;

/** Kit's shell with the links to what the first page needs, and with the app as the one module that starts it. */
function completed(html: string): string {
  const app = /import\("([^"]+\/entry\/app\.[^"]+)"\)/.exec(html)?.[1];
  if (!app || !START.test(html)) throw new Error('Kit writes its shell in another way');
  const needed = importsOf(app);
  const links = html.replace(LINK, (link, path: string) => (needed.has(path) ? link : ''));
  const script = `import("${app}").then((app) => app.start(app, document.getElementById("app")));`;
  const font = readdirSync(join(BUILD, ASSETS)).find((name) => FONT.test(name));
  if (!font) throw new Error(`no font in ${ASSETS}`);
  const preload = `<link rel="preload" href="/${ASSETS}/${font}" as="font" type="font/woff2" crossorigin>`;
  const icon = readFileSync(join(BUILD, ICON), 'utf8').trim();
  return links
    .replace('<!-- build -->', preload)
    .replace(`href="${ICON}"`, `href="data:image/svg+xml,${encodeURIComponent(icon)}"`)
    .replace(START, `<div id="app"></div>\n    <script>${script}</script>`);
}

/** A module of the build and what it imports at once. */
function importsOf(path: string, found = new Set<string>()): Set<string> {
  found.add(path);
  for (const [, next = ''] of readFileSync(join(BUILD, path), 'utf8').matchAll(/(?:from|^import|;import)"([^"]+)"/g)) {
    const there = new URL(next, `http://build${path}`).pathname;
    if (!found.has(there)) importsOf(there, found);
  }
  return found;
}
