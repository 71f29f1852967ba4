// Schemathesis, as PyPI has it, in a folder of its own.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const VERSION = '4.32.5';
const run = promisify(execFile);

async function installed(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'foyer', `schemathesis-${VERSION}`);
  if (existsSync(folder)) return folder;
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const words = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', made];
  await run('python3', [...words, `schemathesis==${VERSION}`]);
  if (existsSync(folder)) rmSync(made, { recursive: true });
  else renameSync(made, folder);
  return folder;
}

/** Runs it over the description that the server serves; what it found, and how many requests it made. */
export async function schemathesis(
  url: string,
  words: readonly string[],
): Promise<{ ok: boolean; told: string; cases: number }> {
  const folder = await installed();
  const command = [
    '-c',
    'from schemathesis.cli import schemathesis; schemathesis()',
    'run',
    `${url}/api/v1/openapi.json`,
  ];
  const env = { ...process.env, PYTHONPATH: folder, PYTHONHASHSEED: '0' };
  const { stdout } = await run('python3', [...command, ...words, '--no-color'], {
    env,
    maxBuffer: 1 << 28,
    cwd: folder,
  }).catch((failed: { stdout: string; stderr: string }) => ({ stdout: failed.stdout + failed.stderr }));
  // Its reproductions repeat whole addresses: cut, for people.
  const told = stdout.replace(/[^\n]{400,}/g, (line) => `${line.slice(0, 400)}…`);
  // Its own faults (Python 3.11 fails at deep recursion) are none of the server.
  const ok = /\d+ generated/.test(stdout) && !/❌ ST\d+|Network Error/.test(stdout);
  return { ok, told, cases: Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0) };
}
