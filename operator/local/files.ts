import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Atomic and durable: a power cut leaves the old or the new file. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, 'w', mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true }); // usually because the disk is full
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Undefined when the file does not exist; throws on any other error, including invalid JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) throw new BrokenFile(`${path}: ${error.message}`);
    throw error;
  }
}

/** The file is not valid JSON. */
export class BrokenFile extends Error {}
