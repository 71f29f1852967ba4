import { splitName } from '../names/kinds.ts';
import { discOf } from '../names/music.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Grouping, LocalArtwork } from './draft.ts';
import { inside } from './local.ts';

type Names = Readonly<Record<string, readonly string[]>>;

const ALBUM: Names = {
  cover: ['cover', 'folder', 'front', 'album', 'albumart', 'poster'],
  disc: ['disc', 'cdart', 'cd'],
};
const ARTIST: Names = { square: ['artist'] };
/** In the folder above its albums an artist has the common names too. */
const ARTIST_FOLDER: Names = {
  square: ['artist', 'folder', 'poster', 'cover'],
  backdrop: ['backdrop', 'fanart', 'background'],
  logo: ['logo', 'clearlogo'],
};
const PICTURES = ['jpg', 'jpeg', 'png', 'webp', 'avif'];
const ALL = new Set([ALBUM, ARTIST, ARTIST_FOLDER].flatMap((names) => Object.values(names).flat()));

/** Whether the name is one of those that pictures of albums and artists have. */
export function isMusicPicture(name: string): boolean {
  const { stem, extension } = splitName(name.toLowerCase());
  return ALL.has(stem) && PICTURES.includes(extension);
}

/**
 * Pictures of an album or artist: in the directory of its tracks, in that above the folders of discs, and of an artist
 * also in the folder above that of the album. `list` gives the files of a directory inside the storage.
 */
export async function musicPictures(
  draft: Draft,
  grouping: Grouping,
  list: (directory: string) => Promise<readonly WalkedFile[]>,
): Promise<LocalArtwork> {
  const own = { directory: grouping.directory, files: grouping.files };
  const isDisc = grouping.within.length > 1 && discOf(grouping.within.at(-1) ?? '') !== undefined;
  const depth = isDisc ? 2 : 1;
  const album = isDisc ? await above(grouping, 1, list) : undefined;
  const artist =
    draft.type === 'artist' && grouping.within.length > depth ? await above(grouping, depth, list) : undefined;
  const near = draft.type === 'album' ? ALBUM : ARTIST;
  return {
    ...(artist && picturesIn(artist, ARTIST_FOLDER)),
    ...picturesIn(own, near),
    ...(album && picturesIn(album, near)),
  };
}

interface Listing {
  directory: string;
  files: readonly WalkedFile[];
}

async function above(
  { directory }: Grouping,
  levels: number,
  list: (directory: string) => Promise<readonly WalkedFile[]>,
): Promise<Listing> {
  const path = directory.split('/').slice(0, -levels).join('/');
  return { directory: path, files: await list(path) };
}

/** Of several pictures of one kind, the one whose name stands first. */
function picturesIn({ directory, files }: Listing, kinds: Names): LocalArtwork {
  const artwork: LocalArtwork = {};
  for (const [kind, names] of Object.entries(kinds)) {
    const [found] = files
      .map((file) => ({ file, ...splitName(file.name.toLowerCase()) }))
      .filter(({ stem, extension }) => names.includes(stem) && PICTURES.includes(extension))
      .toSorted((a, b) => names.indexOf(a.stem) - names.indexOf(b.stem));
    if (found) artwork[kind] = { path: inside(directory, found.file.name), mtimeMs: Math.trunc(found.file.mtimeMs) };
  }
  return artwork;
}
