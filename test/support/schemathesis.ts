// Schemathesis, as PyPI has it, in a folder of its own.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pythonPackage } from './python-package.ts';

const VERSION = '4.32.5';
const run = promisify(execFile);
/**
 * Wrong data is refused as usual, or with 413 where the address or the body is over the limit of the server. 502 is the answer
 * while the catalogues of the world are unreachable.
 */
const CONFIG = `[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 502]
`;

export interface Fuzzed {
  ok: boolean;
  output: string;
  cases: number;
  /** Operations, as `GET /items`, of which not one request that the schema allows was taken. */
  untaken: string[];
}

function untaken(seen: string): string[] {
  const lines = readFileSync(seen, 'utf8').split('\n');
  rmSync(dirname(seen), { recursive: true });
  const of = (word: string) =>
    new Set(lines.flatMap((line) => (line.startsWith(word) ? [line.slice(word.length)] : [])));
  return [...of('refused ').difference(of('taken '))].sort();
}

/** Codes of refusals that a schema can express, and the exceptions: a code, `code@last`, `code: message` or `/path`. */
interface Refusals {
  expressible: readonly string[];
  beyond: readonly string[];
}

/**
 * Runs it over the description that the server serves; returns its findings and the number of requests. A refusal counts as a fault when its code is
 * `expressible` in a schema and not `beyond` it.
 */
export async function schemathesis(url: string, words: readonly string[], refusals: Refusals): Promise<Fuzzed> {
  const folder = await pythonPackage('schemathesis', VERSION);
  const seen = join(mkdtempSync(join(tmpdir(), 'foyer-fuzz-')), 'seen');
  writeFileSync(seen, '');
  const command = [
    '-c',
    'from schemathesis.cli import schemathesis; schemathesis()',
    'run',
    `${url}/api/v1/openapi.json`,
  ];
  writeFileSync(join(dirname(seen), 'schemathesis.toml'), CONFIG);
  const env = {
    ...process.env,
    PYTHONPATH: [folder, import.meta.dirname].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONHASHSEED: '0',
    SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
    FUZZ_REFUSALS: JSON.stringify(refusals),
    FUZZ_TOLD: seen,
  };
  const { stdout } = await run('python3', [...command, ...words, '--no-color'], {
    env,
    maxBuffer: 1 << 28,
    cwd: dirname(seen),
  }).catch((failed: { stdout: string; stderr: string }) => ({ stdout: failed.stdout + failed.stderr }));
  // Its reproductions repeat whole addresses: cut, for people.
  const output = stdout.replace(/[^\n]{400,}/g, (line) => `${line.slice(0, 400)}…`);
  // Its own faults (Python 3.11 fails at deep recursion) are not of the server.
  const ok = /\d+ generated/.test(stdout) && !/❌ ST\d+|Network Error/.test(stdout);
  return { ok, output, untaken: untaken(seen), cases: Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0) };
}
