import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

/** Whole or not at all, also over a power cut. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, 'w', mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

/** Undefined when the file does not exist; throws on any other fault, a broken file included. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
