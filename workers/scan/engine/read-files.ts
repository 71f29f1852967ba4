import { join } from 'node:path';
import type { ProbeFault } from '#platform/media.ts';
import { isAddress, statMedia } from '#platform/media-bytes.ts';
import type { MusicFile } from '#workers/probe/music/read.ts';
import { ProbeError, probeFile } from '#workers/probe/probe.ts';
import type { Seen } from '#workers/probe/probed.ts';
import { type Sampled, sampledHash } from '#workers/probe/sampled-hash.ts';
import { rulesOf } from '../group/index.ts';
import { inLanes } from '../lanes.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { Read } from '../store/files.ts';
import { type Candidate, findSame, type KnownFile } from '../store/known.ts';
import type { WalkedFile } from '../walk/types.ts';
import { readTracks } from './read-tracks.ts';
import type { Scan } from './scan.ts';
import { Whereabouts } from './whereabouts.ts';

export interface ToRead {
  path: string;
  walked: WalkedFile;
  /** Whether it has a row already. */
  isKnown: boolean;
}

/** Results by path. */
export interface Readings {
  read: Map<string, Read>;
  moved: Map<string, KnownFile>;
  faults: Map<string, { fault: ProbeFault; detail: string; walked: WalkedFile }>;
  /** Changed while being read, or not readable now: read again later. */
  postponed: Set<string>;
}

/** Hashes the files, detects moved ones, and probes the rest, several at once. */
export async function readFiles(scan: Scan, folder: ScannedFolder, files: readonly ToRead[]): Promise<Readings> {
  const readings: Readings = { read: new Map(), moved: new Map(), faults: new Map(), postponed: new Set() };
  const lanes = { lanes: scan.options.concurrency, signal: scan.signal };
  const tracks = await readTracks(
    scan,
    folder,
    files.map(({ path }) => path),
  );
  const all = [...tracks];
  const samples = new Map(
    all.map(([path, { hash, zeros }]): [string, Sampled] => [path, { hash: Buffer.from(hash, 'hex'), zeros }]),
  );
  const real = new Map(all.map(([path, track]) => [path, track.real]));
  const others = files.filter(({ path }) => !tracks.has(path));
  const tops = others.length > 0 ? scan.tops.all() : undefined;
  await inLanes(others, lanes, async (file) => {
    try {
      const absolute = await scan.tops.resolve(join(folder.root, file.path), tops);
      if (absolute === undefined) {
        readings.faults.set(file.path, {
          ...{ fault: 'link-outside', detail: 'leads out of the library', walked: file.walked },
        });
        return;
      }
      real.set(file.path, absolute);
      samples.set(file.path, await sampledHash(absolute, file.walked.size));
    } catch (error) {
      noteFailure(readings, file, error);
    }
  });
  const fresh = files.filter((file) => !file.isKnown && samples.has(file.path));
  await findMoved(scan, { folder, files: fresh, samples, readings });
  const rest = files.filter((file) => samples.has(file.path) && !readings.moved.has(file.path));
  await inLanes(rest, lanes, async (file) => {
    const { path } = file;
    const music = tracks.get(path)?.music;
    await probe(scan, real.get(path) ?? '', { file, sampled: samples.get(path) as Sampled, music, readings });
    scan.counts.probed += 1;
  });
  return readings;
}

function noteFailure({ postponed, faults }: Readings, { path, walked }: ToRead, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  // If it vanished since the listing, the next listing reports it.
  if (code === 'ENOENT') postponed.add(path);
  else faults.set(path, { fault: 'unreadable', detail: `cannot be read: ${code}`, walked });
}

interface Probing {
  file: ToRead;
  sampled: Sampled;
  music: MusicFile | undefined;
  readings: Readings;
}

async function probe(
  scan: Scan,
  absolute: string,
  { file, sampled: { hash, zeros }, music, readings }: Probing,
): Promise<void> {
  try {
    const as = rulesOf(scan.library.type)?.readAs;
    const probed = await probeFile(absolute, { signal: scan.signal, zeros, as, music });
    if (await stillSame(absolute, file.walked, probed.after)) readings.read.set(file.path, { hash, probed });
    else readings.postponed.add(file.path);
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    if (!(await stillSame(absolute, file.walked))) readings.postponed.add(file.path);
    else {
      const detail = `${error.fault}: ${error.message}`;
      readings.faults.set(file.path, { fault: error.fault, detail, walked: file.walked });
    }
    if (file.isKnown) readings.read.set(file.path, { hash, fault: error.fault });
  }
}

/** The second check: a file that changed in between is still being written. */
async function stillSame(absolute: string, walked: WalkedFile, seen?: Seen): Promise<boolean> {
  const now = seen ?? (await statMedia(absolute, { link: true }).catch(() => undefined));
  if (isAddress(absolute)) return now?.size === walked.size; // times differ in precision
  return now !== undefined && (now.isLink || (now.size === walked.size && now.mtimeMs === walked.mtimeMs));
}

interface Moving {
  folder: ScannedFolder;
  files: readonly ToRead[];
  samples: ReadonlyMap<string, Sampled>;
  readings: Readings;
}

/**
 * A new file with the size and hash of a known file that vanished is that file. Several candidates are distinguished by
 * name.
 */
async function findMoved(scan: Scan, { folder, files, samples, readings }: Moving): Promise<void> {
  const hex = (file: ToRead): string => samples.get(file.path)?.hash.toString('hex') ?? '';
  const same = await findSame(
    scan.work.db,
    scan.library,
    files.map((file) => ({ size: file.walked.size, hash: hex(file), name: file.walked.name })),
  );
  const byHash = Map.groupBy(same, (row) => row.sampled_hash.toString('hex'));
  const taken = new Set<string>();
  const whereabouts = new Whereabouts(scan);
  for (const file of files) {
    const found = await origin(
      { whereabouts, folder, libraryId: scan.library.id },
      file,
      (byHash.get(hex(file)) ?? []).filter((row) => !taken.has(row.id)),
    );
    if (!found) continue;
    taken.add(found.id);
    readings.moved.set(file.path, { ...found, moved: true });
  }
}

interface Destination {
  whereabouts: Whereabouts;
  folder: ScannedFolder;
  libraryId: string;
}

async function origin(
  { whereabouts: at, folder, libraryId }: Destination,
  file: ToRead,
  candidates: readonly Candidate[],
): Promise<Candidate | undefined> {
  const other = (row: Candidate): number => Number(row.path.slice(row.path.lastIndexOf('/') + 1) !== file.walked.name);
  // A copy in another library may have moved too; it is used only if none in this library matches.
  const foreign = (row: Candidate): number => Number(row.library_id !== libraryId);
  // A file that a move left behind may return to its place, in another library by then.
  const isItself = (row: Candidate): boolean =>
    row.path === file.path && (row.storage_id === folder.storageId || row.folder_id === folder.id);
  for (const row of candidates.toSorted((a, b) => foreign(a) - foreign(b) || other(a) - other(b))) {
    if (row.missing_since === null ? await at.isGone(row) : isItself(row) || !(await at.isThere(row))) return row;
  }
  return undefined;
}
