// Volumes of managed stores, as the API's /metrics reports their space.
import { type DiskSpace, gib, isLow } from '../disk-space.ts';
import { nameOf } from './desired/meta.ts';
import type { Server } from './server.ts';

export interface ObservedVolume extends DiskSpace {
  name: string;
}

/** The claims of stores that report their space, by store. */
export function storeVolumes(server: Server): Partial<Record<'postgres' | 'objects', string>> {
  const { postgres, objects } = server.spec;
  return {
    ...(postgres.managed && { postgres: `data-${nameOf(server, 'postgres')}-0` }),
    ...(objects.managed && { objects: `data-${nameOf(server, 'objects')}-0` }),
  };
}

const LINE = /^foyer_store_volume_(free|total)_bytes\{volume="([a-z0-9.-]+)"\} ([0-9.e+]+)$/;

/** Volumes of which both numbers are there. */
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

/** What is wrong with the space of the volumes; undefined where nothing is. */
export function lowVolumes(volumes: readonly ObservedVolume[]): string | undefined {
  const low = volumes.filter(isLow).map(({ name, free, total }) => {
    return `volume ${name} has ${gib(free)} of ${gib(total)} GiB free (${free} bytes)`;
  });
  return low.length > 0 ? `${low.join('; ')}: enlarge the claim, or free some space` : undefined;
}
