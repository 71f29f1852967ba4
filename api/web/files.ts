// The build of web/ in memory: every file with its codings, read once at start.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Coding = 'br' | 'gzip' | 'identity';

export interface Variant {
  bytes: Buffer;
  etag: string;
}

export interface WebFile {
  type: string;
  /** Named by its content, so that it never changes. */
  immutable: boolean;
  variants: Partial<Record<Coding, Variant>> & { identity: Variant };
}

export const BUILD = fileURLToPath(new URL('../../web/build', import.meta.url));
export const SHELL = '/index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** What the name of a file ends with in each coding. */
export const ENDINGS: Readonly<Record<Coding, string>> = { identity: '', br: '.br', gzip: '.gz' };

/** Files by their path at the server, such as `/favicon.svg`; undefined without a build. */
export function readBuild(folder: string): ReadonlyMap<string, WebFile> | undefined {
  if (!existsSync(join(folder, SHELL))) return undefined;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const there = new Set(names);
  const files = names.flatMap((name): [string, WebFile][] => {
    const type = TYPES[extname(name)];
    return type ? [[`/${name}`, fileOf({ folder, there, name }, type)]] : [];
  });
  return new Map(files);
}

interface Place {
  folder: string;
  there: ReadonlySet<string>;
  name: string;
}

function fileOf({ folder, there, name }: Place, type: string): WebFile {
  const found = Object.entries(ENDINGS).filter(([, ending]) => there.has(name + ending));
  const variants = Object.fromEntries(
    found.map(([coding, ending]) => [coding, variantOf(readFileSync(join(folder, name + ending)))]),
  ) as WebFile['variants'];
  return { type, immutable: name.startsWith('_app/immutable/'), variants };
}

export const variantOf = (bytes: Buffer): Variant => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
});
