// The hash of everything that a build depends on: the name of the version, and what hack/start and the tests compare.
//   node web/vite/sources.ts   prints it
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const OWN = [
  'src',
  'static',
  'messages',
  'vite',
  'vite.config.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
];
const CLIENT = '../api/client';

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

/** 16 letters; the same on every machine for the same sources. */
export function sourcesHash(web: string): string {
  const hash = createHash('sha256');
  for (const path of [...OWN, CLIENT].flatMap((name) => filesOf(resolve(web, name)))) {
    hash.update(`${relative(web, path)}\0`);
    hash.update(createHash('sha256').update(readFileSync(path)).digest());
  }
  return hash.digest('hex').slice(0, 16);
}

if (import.meta.main) process.stdout.write(`${sourcesHash(resolve(import.meta.dirname, '..'))}\n`);
