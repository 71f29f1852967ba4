import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * EIO, ENXIO, ENODEV, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ESTALE, EREMOTEIO: errors of a lost
 * mount.
 */
const OF_DEVICES = new Set([-5, -6, -19, -107, -108, -110, -112, -113, -116, -121]);

/** Whether an error concerns the disk or network under a file, not the file itself. */
export function isOfDevice(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && OF_DEVICES.has(Number(error.errno));
}

/** The topmost directory that cannot be listed for such a reason, from a directory up to the library's folder. */
export function lostAbove({ root, folder }: { root: string; folder: string }, path: string): string | undefined {
  let lost: string | undefined;
  for (let at = path; isLost(join(root, at)); at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    lost = at;
    if (at === folder || at === '') break;
  }
  return lost;
}

function isLost(absolute: string): boolean {
  try {
    readdirSync(absolute);
    return false;
  } catch (error) {
    return isOfDevice(error);
  }
}

/** Shows the main thread that this one does not hang. */
export function noteMove({ moved }: { moved?: Int32Array | undefined }): void {
  if (moved) Atomics.add(moved, 0, 1);
}
