// adapter-static, with a shell that paints before any script: its style sheet and the font of the first text are in the HTML.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import adapter from '@sveltejs/adapter-static';
import type { Adapter } from '@sveltejs/kit';

const BUILD = 'build';
const SHELL = 'index.html';
const ASSETS = '_app/immutable/assets';

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

/** Replaces the mark in app.html by links to hashed files that only a build knows. */
function completed(html: string): string {
  const names = readdirSync(join(BUILD, ASSETS));
  const only = (pattern: RegExp): string => {
    const found = names.filter((name) => pattern.test(name));
    if (found.length !== 1) throw new Error(`the build has ${found.length} files like ${pattern} in ${ASSETS}`);
    return `/${ASSETS}/${found[0]}`;
  };
  const font = only(/^inter-latin-wght-normal\..*woff2$/);
  const links = [
    `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>`,
    `<link rel="stylesheet" href="${only(/^0\..*\.css$/)}">`,
    `<link rel="stylesheet" href="${only(/^base\..*\.css$/)}">`,
  ];
  return html.replace('<!-- build -->', links.join(''));
}
