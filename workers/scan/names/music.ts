import { splitName } from './kinds.ts';
import { tidy } from './title.ts';

export interface NamedTrack {
  title: string;
  disc?: number;
  track?: number;
  artist?: string;
}

const DISC_AND_TRACK = /^(\d{1,2})[-.](\d{2,3})(?=[\s._-])/;
const TRACK = /^(?:[([]|track[\s._-]?)?(\d{1,3})(?=[\s._)\]-]|$)/i;
/** `03-artist-the_title` of scene releases, where `104` is track 4 of disc 1. */
const SCENE_TRACK = /^(\d)?(\d{2})-([^-\s]+)-([^\s]+)$/;
const SIDE_AND_TRACK = /^([A-H])(\d{1,2})(?=[\s._-])/;
const BETWEEN = ' - ';
const MOST_PARTS = 3;

/**
 * What the name of an untagged track says: `1-03 Title`, `03. Title`, `B2 Title` (a side counts as a disc),
 * `03 - Artist - Title`.
 */
export function readTrackName(name: string): NamedTrack {
  const { stem } = splitName(name);
  const scene = SCENE_TRACK.exec(stem);
  if (scene) return sceneTrack(scene);
  const { marker, ...numbers } = numbersOf(stem);
  const rest = stem.slice(marker.length).replace(/^[\s._)\]-]{1,4}/, '');
  const parts = rest
    .split(BETWEEN)
    .map(tidy)
    .filter((part) => part !== '');
  const [first = ''] = parts;
  const at = numbers.track === undefined ? numberAmong(parts) : -1;
  if (at > 0) return { track: Number(parts[at]), artist: first, title: parts.slice(at + 1).join(BETWEEN) };
  const hasArtist = parts.length > 1 && parts.length <= MOST_PARTS;
  const title = (hasArtist ? parts.slice(1) : parts).join(BETWEEN);
  return { ...numbers, title: title || tidy(stem) || stem, ...(hasArtist && { artist: first }) };
}

function sceneTrack([, disc, track, artist = '', title = '']: readonly (string | undefined)[]): NamedTrack {
  const number = disc === undefined ? {} : { disc: Number(disc) };
  return { ...number, track: Number(track), artist: tidy(artist), title: tidy(title) };
}

/** The place of the track's number in `Artist - Album - 02 - Title`, where a title follows. */
const numberAmong = (parts: readonly string[]): number =>
  parts.findIndex((part, i) => i > 0 && i < parts.length - 1 && /^\d{2,3}$/.test(part));

function numbersOf(stem: string): { marker: string; disc?: number; track?: number } {
  const both = DISC_AND_TRACK.exec(stem);
  if (both) return { marker: both[0], disc: Number(both[1]), track: Number(both[2]) };
  const side = SIDE_AND_TRACK.exec(stem);
  if (side) return { marker: side[0], disc: sideNumber(side[1] ?? 'A'), track: Number(side[2]) };
  const [marker = '', number] = TRACK.exec(stem) ?? [];
  return Number(number) > 0 ? { marker, track: Number(number) } : { marker: '' };
}

const sideNumber = (side: string): number => side.charCodeAt(0) - 'A'.charCodeAt(0) + 1;

const DISC_FOLDER =
  /^(?:cd|dis[ck]|disque|lp|vinyl|tape|volume|vol\.?)[\s._#-]{0,3}(\d{1,2}|one|two|three|four|five|six)(?=$|[\s._:([-])/i;
const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six'];

/** Number of the disc that a folder holds, as in `CD2` and `Disc 1 - Live`. */
export function discOf(folder: string): number | undefined {
  const word = DISC_FOLDER.exec(folder)?.[1]?.toLowerCase() ?? '0';
  const number = NUMBERS.includes(word) ? NUMBERS.indexOf(word) + 1 : Number(word);
  return number > 0 ? number : undefined;
}

export interface NamedAlbum {
  title: string;
  artist?: string;
  year?: number;
  /** The folder holds one disc of the album. */
  disc?: number;
}

/** `Album (Disc 2)`: the folder without it, and the number. */
const DISC_BEHIND = /^(.{1,200}\S)[\s._-]{0,3}[([](?:cd|dis[ck])[\s._#-]{0,3}(\d{1,2})[)\]]$/i;
/** `Artist-Some_Album-CD-FLAC-2001-GROUP` of scene releases. */
const SCENE = /^([^-\s]{1,100})-([^-\s]{1,100})-(?:\S{1,100}-)?((?:19|20)\d{2})-[A-Za-z0-9_]{2,20}$/;
/** Content of brackets that is no part of a title: years, formats, editions and rips. */
const RIP =
  /\d{4}|flac|alac|mp3|aac|ogg|opus|wav|dsd|vinyl|\bcd\b|sacd|\bweb\b|\blp\b|kbps|\bv[02]\b|\b320\b|\d\d[-./]\d{2,3}|remaster|edition|deluxe|expanded|bonus|reissue|anniversary|explicit/i;

const YEAR_FIRST = /^[([]?((?:19|20)\d{2})[)\]]?[\s._-]{1,3}(?=\S)/;
const YEAR_INSIDE = /[([]((?:19|20)\d{2})[)\]]/;
const MOST_BRACKETS = 5;

/** The name of an album's folder: `Artist - Album (1999) [FLAC]`, `1999 - Album`. `above` is the folder above it. */
export function readAlbumFolder(folder: string, above?: string): NamedAlbum {
  const [, sceneArtist, sceneTitle = '', sceneYear] = SCENE.exec(folder) ?? [];
  if (sceneArtist !== undefined) return { artist: tidy(sceneArtist), title: tidy(sceneTitle), year: Number(sceneYear) };
  const [, whole, disc] = DISC_BEHIND.exec(folder) ?? [];
  return whole === undefined ? albumIn(folder, above) : { ...albumIn(whole, above), disc: Number(disc) };
}

function albumIn(folder: string, above: string | undefined): NamedAlbum {
  const { named, year } = withoutYear(folder);
  return { ...albumOf(tidy(withoutTail(named)) || tidy(named) || folder, above), ...year };
}

function albumOf(bare: string, above: string | undefined): NamedAlbum {
  const [artist = '', ...rest] = bare.split(BETWEEN);
  const title = rest.join(BETWEEN).trim();
  const isArtist = above === undefined || tidy(above).toLowerCase() === artist.trim().toLowerCase();
  if (title === '' || !isArtist) return { title: bare };
  return { title: title.replace(/^(?:1[5-9]|20)\d{2} - /, ''), artist: artist.trim() };
}

function withoutYear(folder: string): { named: string; year: { year?: number } } {
  const found = YEAR_FIRST.exec(folder);
  const first = found && !/^[([]/.test(folder.slice(found[0].length)) ? found : null; // `1989 (Live)` is a title
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
    if (at <= 0 || (open === '(' && !RIP.test(bare.slice(at)))) return bare;
    bare = bare.slice(0, at).trimEnd();
  }
  return bare;
}
