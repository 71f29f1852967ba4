import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { looks } from '#areas/storage/public.ts';
import type { ScannedFolder } from '../store/context.ts';

const DEVICES = '/sys/dev/block';
/** Virtual disks: their drivers report spinning by default, whatever the hardware is. */
const VIRTUAL = /^(vd|xvd|nbd|rbd|loop|ram|zram)/;

/**
 * The spinning disk under each folder, by folder id: two scans of it are slower at once than one after the other.
 * Network, memory and overlay file systems have no disk of their own, and solid-state disks serve many readers.
 */
export async function spindlesOf(
  folders: readonly ScannedFolder[],
  { node, devices = DEVICES }: { node: string; devices?: string },
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    folders.map(async ({ id, root, path }): Promise<[string, string | undefined]> => {
      const look = () => stat(join(root, path)).catch(() => undefined);
      const there = root === '' ? undefined : await looks.run(id, look);
      return [id, there && there !== 'slow' ? await spindleOf(there.dev, devices) : undefined];
    }),
  );
  return new Map(found.flatMap(([id, disk]) => (disk === undefined ? [] : [[id, `${node}:${disk}`]])));
}

/** Name of the spinning disk with this device number. */
async function spindleOf(device: number, devices: string): Promise<string | undefined> {
  const major = ((device >>> 8) & 0xfff) | (Math.floor(device / 2 ** 32) & ~0xfff);
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  const place = await realpath(join(devices, `${major}:${minor}`)).catch(() => undefined);
  if (!place) return undefined;
  for (const disk of [place, dirname(place)]) {
    if (VIRTUAL.test(basename(disk))) return undefined;
    const turns = await readFile(join(disk, 'queue/rotational'), 'utf8').catch(() => undefined);
    if (turns !== undefined) return turns.trim() === '1' ? basename(disk) : undefined;
  }
  return undefined;
}
