import { kindOf, splitName } from '../names/kinds.ts';
import { pictureKind, readSidecar } from '../names/sidecars.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { DraftFile, ExternalTrack, Grouping, LocalArtwork } from './draft.ts';

export function inside(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Subtitles and sounds beside a video, the longest video name that fits winning. */
export function tracksOf({ directory, files }: Grouping, video: string): ExternalTrack[] {
  const { stem } = splitName(video);
  const stems = files.filter((file) => kindOf(file.name) === 'video').map((file) => splitName(file.name).stem);
  return files.flatMap((file) => {
    const sidecar = readSidecar(file.name, stem);
    const closer = stems.some((other) => other.length > stem.length && readSidecar(file.name, other));
    if (!sidecar || closer || isHalf(file.name, files)) return [];
    return [{ ...sidecar, path: inside(directory, file.name), size: file.size, mtimeMs: file.mtimeMs }];
  });
}

/** The `.sub` of a VobSub pair belongs to its `.idx`. */
function isHalf(name: string, files: readonly WalkedFile[]): boolean {
  const { stem, extension } = splitName(name);
  return extension === 'sub' && files.some((file) => file.name.toLowerCase() === `${stem.toLowerCase()}.idx`);
}

/** Pictures of a video (`own`), or with `shared` those that speak of the whole folder. */
export function artworkOf(grouping: Grouping, video: string, shared: boolean): LocalArtwork {
  const { stem } = splitName(video);
  const artwork: LocalArtwork = {};
  const found = grouping.files.flatMap((file) => {
    const picture = pictureKind(file.name, stem);
    return picture && (picture.own || shared) ? [{ file, ...picture }] : [];
  });
  // One named like the video wins over the folder's.
  for (const { file, kind } of found.sort((a, b) => Number(a.own) - Number(b.own))) {
    artwork[kind] = { path: inside(grouping.directory, file.name), mtimeMs: Math.trunc(file.mtimeMs) };
  }
  return artwork;
}

/** The NFO of a video: by its name, or with `shared` one of the usual names. */
export function nfoName(files: readonly WalkedFile[], video: string, shared: readonly string[]): string | undefined {
  const own = `${splitName(video).stem}.nfo`.toLowerCase();
  const named = files.find((file) => file.name.toLowerCase() === own);
  return (named ?? files.find((file) => shared.includes(file.name.toLowerCase())))?.name;
}

export function draftFile(
  grouping: Grouping,
  name: string,
  more: Omit<DraftFile, 'path' | 'walked' | 'tracks'>,
): DraftFile {
  const walked = grouping.files.find((file) => file.name === name);
  if (!walked) throw new Error('a grouped file was not listed');
  return { path: inside(grouping.directory, name), walked, tracks: tracksOf(grouping, name), ...more };
}
