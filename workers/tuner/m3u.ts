// Extended M3U playlists of live channels.

export interface PlaylistEntry {
  name: string;
  url: string;
  /** tvg-id: the channel's id in a guide. */
  guideId?: string;
  guideName?: string;
  number?: string;
  group?: string;
  logo?: string;
  radio: boolean;
}

export interface Playlist {
  entries: PlaylistEntry[];
  /** url-tvg: addresses of guides. */
  guides: string[];
  /** Entries left out: without an address, or with an unsupported scheme. */
  skipped: number;
}

/** Not an extended playlist. */
export class NotAPlaylist extends Error {}

const SCHEMES = /^(https?|rtsp|udp|rtp):\/\//i;
/** Matches only at the start of a word, so that a long word is scanned once. */
const ATTRIBUTE = /(?<![A-Za-z0-9_-])([A-Za-z0-9_-]+)=(?:"([^"]*)"|([^\s",]+))/g;
export const MOST_ENTRIES = 50_000;
/** No channel name or address is longer. */
export const LONGEST_LINE = 65_536;

/**
 * One line at a time, because a list of all lines could be many times larger than the text. Undefined for a line that
 * is too long.
 */
function* linesOf(text: string): Generator<string | undefined> {
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; ) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    yield end - at > LONGEST_LINE ? undefined : text.slice(at, end).trim();
    at = end + 1;
  }
}

function attributesOf(line: string): Record<string, string> {
  const pairs = [...line.matchAll(ATTRIBUTE)].map(([, key = '', quoted, bare]) => [key.toLowerCase(), quoted ?? bare]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** The text after the first comma outside quotes. */
function titleOf(line: string): string {
  const bare = line.replace(/"[^"]*"/g, (quoted) => 'x'.repeat(quoted.length));
  const comma = bare.indexOf(',');
  return comma < 0 ? '' : line.slice(comma + 1).trim();
}

interface Pending {
  title: string;
  attributes: Record<string, string>;
  group?: string;
}

const trimmed = (text: string | undefined): string | undefined => text?.trim() || undefined;

function entryOf({ title, attributes, group }: Pending, url: string): PlaylistEntry {
  const given = {
    guideId: trimmed(attributes['tvg-id']),
    guideName: trimmed(attributes['tvg-name']),
    number: trimmed(attributes['tvg-chno'] ?? attributes['channel-number']),
    group: trimmed(attributes['group-title']) ?? trimmed(group),
    logo: trimmed(attributes['tvg-logo']),
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined));
  return { name: title || given.guideName || url, url, radio: /^(true|1)$/.test(attributes.radio ?? ''), ...known };
}

/** Throws NotAPlaylist unless the text begins with #EXTM3U. Entries above the limit are counted as skipped. */
export function readPlaylist(text: string): Playlist {
  let playlist: Playlist | undefined;
  let pending: Pending | undefined;
  for (const line of linesOf(text)) {
    if (line === '') continue;
    if (playlist) pending = read(playlist, pending, line);
    else playlist = begun(line);
  }
  if (!playlist) throw new NotAPlaylist(NO_HEADER);
  return JSON.parse(JSON.stringify(playlist)) as Playlist; // slices of the text would keep all of it in memory
}

const NO_HEADER = 'it does not begin with #EXTM3U';

/** A playlist with the data of its first line. */
function begun(header: string | undefined): Playlist {
  if (!header?.startsWith('#EXTM3U')) throw new NotAPlaylist(NO_HEADER);
  const { 'url-tvg': urlTvg, 'x-tvg-url': xTvgUrl } = attributesOf(header);
  return { entries: [], guides: (urlTvg ?? xTvgUrl ?? '').split(',').filter(Boolean), skipped: 0 };
}

/** Reads one line; returns the data that applies to the next ones. */
function read(playlist: Playlist, pending: Pending | undefined, line: string | undefined): Pending | undefined {
  if (line === undefined) {
    playlist.skipped += 1;
    return undefined;
  }
  if (line.startsWith('#EXTINF:')) return { title: titleOf(line), attributes: attributesOf(line) };
  if (line.startsWith('#EXTGRP:') && pending) return { ...pending, group: line.slice('#EXTGRP:'.length) };
  if (line.startsWith('#') || !pending) return pending;
  if (SCHEMES.test(line) && playlist.entries.length < MOST_ENTRIES) playlist.entries.push(entryOf(pending, line));
  else playlist.skipped += 1;
  return undefined;
}
