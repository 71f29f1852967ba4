import { splitName } from '../names/kinds.ts';
import type { WalkedFile } from '../walk/types.ts';
import { besideOf, folded } from './beside.ts';
import type { DraftFile, ExternalTrack, Grouping, LocalArtwork } from './draft.ts';

export function inside(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Subtitles and sounds beside a video, the longest video name that fits winning. */
export function tracksOf({ directory, files }: Grouping, video: string): ExternalTrack[] {
  const found = besideOf(files).tracks.get(folded(splitName(video).stem)) ?? [];
  return found.map(({ file: { name, size, mtimeMs }, sidecar }) => ({
    ...sidecar,
    path: inside(directory, name),
    size,
    mtimeMs,
  }));
}

/** Pictures of a video, or with `shared` also those that speak of the whole folder. */
export function artworkOf({ directory, files }: Grouping, video: string, shared: boolean): LocalArtwork {
  const beside = besideOf(files);
  const own = beside.pictures.get(splitName(video).stem.toLowerCase()) ?? [];
  const artwork: LocalArtwork = {};
  // One named like the video wins over the folder's.
  for (const { file, kind } of [...(shared ? beside.shared : []), ...own]) {
    artwork[kind] = { path: inside(directory, file.name), mtimeMs: Math.trunc(file.mtimeMs) };
  }
  return artwork;
}

/** The NFO of a video: by its name, or with `shared` one of the usual names. */
export function nfoFile(
  files: readonly WalkedFile[],
  video: string,
  shared: readonly string[],
): WalkedFile | undefined {
  const { byLowName } = besideOf(files);
  const names = [`${splitName(video).stem}.nfo`.toLowerCase(), ...shared];
  return names.flatMap((name) => byLowName.get(name) ?? [])[0];
}

export function draftFile(
  grouping: Grouping,
  name: string,
  more: Omit<DraftFile, 'path' | 'walked' | 'tracks'>,
): DraftFile {
  const walked = besideOf(grouping.files).byName.get(name);
  if (!walked) throw new Error('a grouped file was not listed');
  return { path: inside(grouping.directory, name), walked, tracks: tracksOf(grouping, name), ...more };
}
