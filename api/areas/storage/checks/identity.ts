import { z } from 'zod';
import { Absent, type Listed, type StorageReader } from '../readers/reader.ts';
import type { StorageReason } from '../storages.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'storages.identity': Identity;
  }
}

/** The facts that identify a storage. */
export interface Identity {
  /** Paths and sizes of known files, of a read-only storage. */
  sample?: [path: string, size: number][];
  sampledAt?: string;
  /** The epoch for which a person accepted that the root is empty. */
  emptyEpoch?: number;
}

export const MARKER = '.foyer-storage';
const MARKER_BYTES = 4096;
export const SAMPLE = 32;
/** Part of the sample that must be present: 24 of 32. */
const PRESENT = 0.75;

const Marker = z.object({ foyer: z.literal(1), server: z.string(), storage: z.string(), epoch: z.int() });
export type Marker = z.output<typeof Marker>;

/** Undefined without a marker; `invalid` for a file that no Foyer wrote. */
export async function readMarker(reader: StorageReader, signal?: AbortSignal): Promise<Marker | 'invalid' | undefined> {
  try {
    const bytes = await reader.read(MARKER, { start: 0, length: MARKER_BYTES }, { signal });
    const found = Marker.safeParse(JSON.parse(bytes.toString('utf8')));
    return found.success ? found.data : 'invalid';
  } catch (error) {
    if (error instanceof Absent) return undefined;
    if (error instanceof SyntaxError) return 'invalid';
    throw error;
  }
}

export async function writeMarker(reader: StorageReader, marker: Omit<Marker, 'foyer'>): Promise<void> {
  await reader.write(MARKER, Buffer.from(`${JSON.stringify({ foyer: 1, ...marker })}\n`), { replace: true });
}

/** What a storage is compared with. */
export interface Expected {
  id: string;
  /** Undefined where it is not known. */
  serverId: string | undefined;
  epoch: number;
  /** It carries a marker. */
  marked: boolean;
  identity: Identity;
  /** Files on it are known, so an empty root is not believed. */
  holdsFiles: boolean;
  /** It is proved now, whatever was proved before: another bucket of the same name looks the same. */
  afresh?: boolean;
}

/** The sight of a process that proved the identity already: it is not sampled again at each watch. */
const proven = new Map<string, { fingerprint: string; at: number }>();
const PROVEN_MS = 10 * 60_000;

/** Why the place is not proved to be the storage; undefined when it is. */
export async function identityFault(
  reader: StorageReader,
  { id, serverId, epoch, marked, identity, holdsFiles, afresh = false }: Expected,
  entries: readonly Listed[],
): Promise<StorageReason | undefined> {
  const empty = entries.every(({ name }) => name.startsWith('.foyer-'));
  if (empty && holdsFiles && identity.emptyEpoch !== epoch) return 'root-empty';
  if (marked) return markerFault(reader, { server: serverId, storage: id, epoch });
  const { sample = [] } = identity;
  if (sample.length === 0 || identity.emptyEpoch === epoch) return undefined;
  if (afresh) proven.delete(`${id} ${epoch}`);
  return sampleFault(reader, `${id} ${epoch}`, sample);
}

async function markerFault(
  reader: StorageReader,
  { server, storage, epoch }: { server: string | undefined; storage: string; epoch: number },
): Promise<'marker-missing' | 'marker-differs' | undefined> {
  const marker = await readMarker(reader);
  if (marker === undefined) return 'marker-missing';
  const same =
    marker !== 'invalid' &&
    (server ?? marker.server) === marker.server &&
    marker.storage === storage &&
    marker.epoch === epoch;
  return same ? undefined : 'marker-differs';
}

async function sampleFault(
  reader: StorageReader,
  key: string,
  sample: NonNullable<Identity['sample']>,
): Promise<'sample-differs' | undefined> {
  const fingerprint = (await reader.fingerprint?.()) ?? '';
  const known = proven.get(key);
  const fresh = known !== undefined && Date.now() - known.at < PROVEN_MS;
  if (fresh && known.fingerprint === fingerprint) return undefined;
  proven.delete(key);
  const found = await presentOf(reader, sample);
  if (found.length < Math.ceil(sample.length * PRESENT)) return 'sample-differs';
  proven.set(key, { fingerprint, at: Date.now() });
  return undefined;
}

/** Those that exist with their size. */
export async function presentOf(
  reader: StorageReader,
  files: readonly [path: string, size: number][],
): Promise<[path: string, size: number][]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const there = await reader.stat(file[0]);
      return there?.kind === 'file' && there.size === file[1] ? [file] : [];
    }),
  );
  return found.flat();
}
