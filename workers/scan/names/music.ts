import { splitName } from './kinds.ts';
import { tidy } from './title.ts';

export interface NamedTrack {
  title: string;
  disc?: number;
  track?: number;
  artist?: string;
}

const DISC_AND_TRACK = /^(\d{1,2})[-.](\d{2,3})(?=[\s._-])/;
const TRACK = /^(\d{1,3})(?=[\s._)-])/;
const SIDE_AND_TRACK = /^([A-H])(\d{1,2})(?=[\s._-])/;
const BETWEEN = ' - ';
const MOST_PARTS = 3;

/**
 * What the name of an untagged track says: `1-03 Title`, `03. Title`, `B2 Title` (a side counts as a disc),
 * `03 - Artist - Title`.
 */
export function readTrackName(name: string): NamedTrack {
  const { stem } = splitName(name);
  const { marker, ...numbers } = numbersOf(stem);
  const rest = stem.slice(marker.length).replace(/^[\s._)-]{1,4}/, '');
  const parts = rest
    .split(BETWEEN)
    .map(tidy)
    .filter((part) => part !== '');
  const [first = ''] = parts;
  const hasArtist = parts.length > 1 && parts.length <= MOST_PARTS;
  const title = (hasArtist ? parts.slice(1) : parts).join(BETWEEN);
  return { ...numbers, title: title || tidy(stem) || stem, ...(hasArtist && { artist: first }) };
}

function numbersOf(stem: string): { marker: string; disc?: number; track?: number } {
  const both = DISC_AND_TRACK.exec(stem);
  if (both) return { marker: both[0], disc: Number(both[1]), track: Number(both[2]) };
  const side = SIDE_AND_TRACK.exec(stem);
  if (side) return { marker: side[0], disc: sideNumber(side[1] ?? 'A'), track: Number(side[2]) };
  const marker = TRACK.exec(stem)?.[1] ?? '';
  return Number(marker) > 0 ? { marker, track: Number(marker) } : { marker };
}

const sideNumber = (side: string): number => side.charCodeAt(0) - 'A'.charCodeAt(0) + 1;

const DISC_FOLDER = /^(?:cd|dis[ck]|disque|lp|vinyl|tape|volume|vol\.?)[\s._#-]{0,3}(\d{1,2})(?=$|[\s._:([-])/i;

/** Number of the disc that a folder holds, as in `CD2` and `Disc 1 - Live`. */
export function discOf(folder: string): number | undefined {
  const number = Number(DISC_FOLDER.exec(folder)?.[1] ?? 0);
  return number > 0 ? number : undefined;
}

export interface NamedAlbum {
  title: string;
  artist?: string;
  year?: number;
}

const YEAR_FIRST = /^[([]?((?:19|20)\d{2})[)\]]?[\s._-]{1,3}(?=\S)/;
const YEAR_INSIDE = /[([]((?:19|20)\d{2})[)\]]/;
const MOST_BRACKETS = 5;

/** The name of an album's folder: `Artist - Album (1999) [FLAC]`, `1999 - Album`. `above` is the folder above it. */
export function readAlbumFolder(folder: string, above?: string): NamedAlbum {
  const { named, year } = withoutYear(folder);
  const bare = tidy(withoutTail(named)) || tidy(named) || folder;
  const [artist = '', ...rest] = bare.split(BETWEEN);
  const title = rest.join(BETWEEN).trim();
  const isArtist = above === undefined || tidy(above).toLowerCase() === artist.trim().toLowerCase();
  if (title === '' || !isArtist) return { title: bare, ...year };
  return { title: title.replace(/^(?:19|20)\d{2} - /, ''), artist: artist.trim(), ...year };
}

function withoutYear(folder: string): { named: string; year: { year?: number } } {
  const first = YEAR_FIRST.exec(folder);
  const named = first ? folder.slice(first[0].length) : folder;
  const year = first?.[1] ?? YEAR_INSIDE.exec(named)?.[1];
  return { named, year: year === undefined ? {} : { year: Number(year) } };
}

/** Without brackets at the end, which hold years, formats and editions of rips. */
function withoutTail(name: string): string {
  let bare = name.trimEnd();
  for (let i = 0; i < MOST_BRACKETS; i += 1) {
    const open = { ')': '(', ']': '[', '}': '{' }[bare.at(-1) ?? ''];
    const at = open === undefined ? -1 : bare.lastIndexOf(open);
    if (at <= 0) return bare;
    bare = bare.slice(0, at).trimEnd();
  }
  return bare;
}
