import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { type Picture, pictureStems, readSidecar, type Sidecar, sidecarStems } from '../names/sidecars.ts';
import { atOnce, type Steps } from '../names/steps.ts';
import type { WalkedFile } from '../walk/types.ts';

/** A sidecar track with the parsed name. */
export interface Track {
  file: WalkedFile;
  sidecar: Sidecar;
}

/** A picture with the parsed name. */
export interface Found extends Picture {
  file: WalkedFile;
}

/**
 * The files of one directory by the media file they belong to. Built once per directory, so that grouping costs the same per
 * file.
 */
export interface Companions {
  byName: ReadonlyMap<string, WalkedFile>;
  /** Files other than media, by name in lower case. */
  byLowName: ReadonlyMap<string, WalkedFile>;
  /** By the folded stem of the video. */
  tracks: ReadonlyMap<string, readonly Track[]>;
  /** By the stem of the video in lower case. */
  pictures: ReadonlyMap<string, readonly Found[]>;
  /** Pictures of the whole folder. */
  shared: readonly Found[];
}

/** A listing belongs to one library, so to one type. */
const built = new WeakMap<readonly WalkedFile[], Companions>();

/** The index of a directory's listing. */
export function companionsOf(files: readonly WalkedFile[], type: string): Companions {
  return atOnce(companionSteps(files, type));
}

/** `companionsOf` with pauses. */
export function* companionSteps(files: readonly WalkedFile[], type: string): Steps<Companions> {
  const known = built.get(files);
  if (known) return known;
  const companions = yield* build(files, type);
  built.set(files, companions);
  return companions;
}

function* build(files: readonly WalkedFile[], type: string): Steps<Companions> {
  const byName = new Map<string, WalkedFile>();
  const byLowName = new Map<string, WalkedFile>();
  const stems = new Set<string>();
  const lowStems = new Set<string>();
  for (const file of files) {
    byName.set(file.name, file);
    const low = file.name.toLowerCase();
    if (isMedia(type, file.name)) {
      const { stem } = splitName(file.name);
      stems.add(folded(stem));
      lowStems.add(stem.toLowerCase());
    } else if (!byLowName.has(low)) byLowName.set(low, file);
    yield;
  }
  const tracks = new Map<string, Track[]>();
  const pictures = new Map<string, Found[]>();
  const shared: Found[] = [];
  for (const file of files) {
    const track = trackOf(file, { stems, byLowName, type });
    if (track) push(tracks, folded(track.stem), track);
    for (const { stem, ...picture } of isMedia(type, file.name) ? [] : pictureStems(file.name)) {
      if (stem === '') shared.push({ file, ...picture });
      else if (lowStems.has(stem)) push(pictures, stem, { file, ...picture });
    }
    yield;
  }
  return { byName, byLowName, tracks, pictures, shared };
}

/** Folds case and accents, so that such names match. */
export function folded(stem: string): string {
  return stem.normalize('NFC').toLowerCase();
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The longest matching video name wins. */
function trackOf(
  file: WalkedFile,
  { stems, byLowName, type }: { stems: ReadonlySet<string>; byLowName: ReadonlyMap<string, WalkedFile>; type: string },
): (Track & { stem: string }) | undefined {
  if (isMedia(type, file.name) || isHalf(file.name, byLowName)) return undefined;
  for (const stem of sidecarStems(file.name)) {
    const sidecar = stems.has(folded(stem)) ? readSidecar(file.name, stem) : undefined;
    if (sidecar) return { file, stem, sidecar };
  }
  return undefined;
}

/** The `.sub` of a VobSub pair belongs to its `.idx`. */
function isHalf(name: string, byLowName: ReadonlyMap<string, unknown>): boolean {
  const { stem, extension } = splitName(name);
  return extension === 'sub' && byLowName.has(`${stem.toLowerCase()}.idx`);
}
