// A package of PyPI in a folder of its own, installed once.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The folder that PYTHONPATH has to name. */
export async function pythonPackage(name: string, version: string): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'foyer', `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const words = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', made];
  await run('python3', [...words, `${name}==${version}`]);
  if (existsSync(folder)) rmSync(made, { recursive: true });
  else renameSync(made, folder);
  return folder;
}
