// Compiled themes, cached by content, so that equal tokens are compiled once.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip as gzipCallback } from 'node:zlib';
import { builtInOf, type Scheme } from '../document/built-in.ts';
import { type ContrastReport, contrastReports } from './contrast.ts';
import { orderedSchemes, type Resolved, resolve, type Source } from './resolve.ts';
import { previewColors, stylesheet, versionOf, type Which } from './stylesheet.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzipCallback);

export interface Sheet {
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
}

export interface Compiled {
  resolved: Resolved;
  version: string;
  schemeNames: Scheme[];
  previewColors: string[];
  contrast: ContrastReport[];
  /** Rendered on first use. */
  sheet: (which: Which) => Promise<Sheet>;
}

const MOST_KEPT = 200;
const kept = new Map<string, Compiled>();

/** `chain` is the result of `chainOf`. */
export function compiledOf(chain: readonly Source[]): Compiled {
  const content = chain.map(({ id, schemes, shared }) => (builtInOf(id) ? id : [schemes, shared]));
  const key = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  const compiled = kept.get(key) ?? compile(chain);
  kept.delete(key); // re-inserted at the end: the least recently used one is dropped first
  kept.set(key, compiled);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return compiled;
}

function compile(chain: readonly Source[]): Compiled {
  const resolved = resolve(chain);
  const sheets = new Map<Which, Promise<Sheet>>();
  return {
    resolved,
    version: versionOf(resolved),
    schemeNames: orderedSchemes(resolved),
    previewColors: previewColors(resolved),
    contrast: contrastReports(resolved),
    sheet(which) {
      const made = sheets.get(which) ?? sheetOf(stylesheet(resolved, which));
      sheets.set(which, made);
      return made;
    },
  };
}

async function sheetOf(text: string): Promise<Sheet> {
  const plain = Buffer.from(text);
  const [br, gzip] = await Promise.all([compressBrotli(plain), compressGzip(plain)]);
  return { plain, br, gzip };
}
