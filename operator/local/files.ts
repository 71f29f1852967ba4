import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Whole or not at all, also over a power cut. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, 'w', mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true }); // a full disk, mostly
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Undefined when the file does not exist; throws on any other fault, a broken file included. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) throw new BrokenFile(`${path}: ${error.message}`);
    throw error;
  }
}

/** It is no JSON. */
export class BrokenFile extends Error {}
