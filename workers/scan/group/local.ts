import { splitName } from '../names/kinds.ts';
import type { WalkedFile } from '../walk/types.ts';
import { companionsOf, folded } from './companions.ts';
import type { DraftFile, ExternalTrack, Grouping, LocalArtwork } from './draft.ts';

export function inside(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Subtitles and audio tracks next to a video; the longest matching video name wins. */
export function tracksOf({ directory, files, library }: Grouping, video: string): ExternalTrack[] {
  const found = companionsOf(files, library.type).tracks.get(folded(splitName(video).stem)) ?? [];
  return found.map(({ file: { name, size, mtimeMs }, sidecar }) => ({
    ...sidecar,
    path: inside(directory, name),
    size,
    mtimeMs,
  }));
}

/** Pictures of a video, with `shared` also those of the whole folder. */
export function artworkOf({ directory, files, library }: Grouping, video: string, shared: boolean): LocalArtwork {
  const companions = companionsOf(files, library.type);
  const own = companions.pictures.get(splitName(video).stem.toLowerCase()) ?? [];
  const artwork: LocalArtwork = {};
  // A picture named like the video wins over the folder's.
  for (const { file, kind } of [...(shared ? companions.shared : []), ...own]) {
    artwork[kind] = { path: inside(directory, file.name), mtimeMs: Math.trunc(file.mtimeMs) };
  }
  return artwork;
}

/** The NFO of a video: by its name, with `shared` also one of the usual names. */
export function nfoFile(
  { files, library }: Pick<Grouping, 'files' | 'library'>,
  video: string,
  shared: readonly string[],
): WalkedFile | undefined {
  const { byLowName } = companionsOf(files, library.type);
  const names = [`${splitName(video).stem}.nfo`.toLowerCase(), ...shared];
  return names.flatMap((name) => byLowName.get(name) ?? [])[0];
}

export function draftFile(
  grouping: Grouping,
  name: string,
  more: Omit<DraftFile, 'path' | 'walked' | 'tracks'>,
): DraftFile {
  const walked = companionsOf(grouping.files, grouping.library.type).byName.get(name);
  if (!walked) throw new Error('a grouped file was not listed');
  return { path: inside(grouping.directory, name), walked, tracks: tracksOf(grouping, name), ...more };
}
