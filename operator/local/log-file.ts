import { closeSync, copyFileSync, existsSync, openSync, renameSync, statSync, truncateSync } from 'node:fs';

const KEPT = 3;

/** Opened for appending: a child keeps writing to it when the operator ends. The caller closes it. */
export function openLog(path: string): number {
  return openSync(path, 'a', 0o600);
}

/** Copies a log larger than `maxBytes` and truncates it, so that its writer need not reopen it. */
export function rotateLog(path: string, maxBytes: number): boolean {
  if (!existsSync(path) || statSync(path).size <= maxBytes) return false;
  for (let number = KEPT - 1; number >= 1; number--)
    if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
  return true;
}

export function closeLog(file: number): void {
  closeSync(file);
}
