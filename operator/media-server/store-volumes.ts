// The disk space of managed stores, from the API's /metrics.
import { type DiskSpace, gib, isLow } from '../disk-space.ts';
import { nameOf } from './desired/meta.ts';
import type { Server } from './server.ts';

export interface ObservedVolume extends DiskSpace {
  name: string;
}

/** Claims of the stores that report their space, by store. */
export function storeVolumes(server: Server): Partial<Record<'postgres' | 'objects', string>> {
  const { postgres, objects } = server.spec;
  return {
    ...(postgres.managed && { postgres: `data-${nameOf(server, 'postgres')}-0` }),
    ...(objects.managed && { objects: `data-${nameOf(server, 'objects')}-0` }),
  };
}

const LINE = /^foyer_store_volume_(free|total)_bytes\{volume="([a-z0-9.-]+)"\} ([0-9.e+]+)$/;

/** Volumes with both numbers. */
export function volumesIn(text: string): ObservedVolume[] {
  const found = new Map<string, Partial<DiskSpace>>();
  for (const line of text.split('\n')) {
    const [, member, name = '', value] = LINE.exec(line) ?? [];
    if (member) found.set(name, { ...found.get(name), [member]: Number(value) });
  }
  return [...found].flatMap(([name, { free, total }]) =>
    free !== undefined && total !== undefined ? [{ name, free, total }] : [],
  );
}

/** A message about volumes with low space; undefined if there are none. */
export function lowVolumes(volumes: readonly ObservedVolume[]): string | undefined {
  const low = volumes.filter(isLow).map(({ name, free, total }) => {
    return `volume ${name} has ${gib(free)} of ${gib(total)} GiB free (${free} bytes)`;
  });
  return low.length > 0 ? `${low.join('; ')}: resize the claim, or free some space` : undefined;
}
