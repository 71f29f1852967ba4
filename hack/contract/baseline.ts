// The surface that later ones are compared with: test/contract/baseline.jsonl, an operation or record a line.
//   node hack/contract/baseline.ts            writes it again; refuses when a fact is lost
//   node hack/contract/baseline.ts --lose     writes it anyway; a decision must give the reason
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { lost } from './additive.ts';
import { type Description, type Facts, surfaceOf } from './surface.ts';

const FILE = 'test/contract/baseline.jsonl';

export const readBaseline = (): Facts[] =>
  readFileSync(FILE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Facts);

export const currentSurface = (): Facts[] =>
  surfaceOf(JSON.parse(readFileSync('api/openapi.json', 'utf8')) as Description);

function main(lose: boolean): number {
  const surface = currentSurface();
  const missing = existsSync(FILE) && !lose ? lost(readBaseline(), surface) : [];
  for (const what of missing) process.stderr.write(`${what}\n`);
  if (missing.length > 0) return 1;
  writeFileSync(FILE, surface.map((facts) => `${JSON.stringify(facts)}\n`).join(''));
  return 0;
}

if (import.meta.main) process.exitCode = main(process.argv.includes('--lose'));
