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
  /** Entries left out: no address, or one of a scheme that is not played. */
  skipped: number;
}

/** Not an extended playlist. */
export class NotAPlaylist extends Error {}

const SCHEMES = /^(https?|rtsp|udp|rtp):\/\//i;
const ATTRIBUTE = /([A-Za-z0-9_-]+)=(?:"([^"]*)"|([^\s",]+))/g;
export const MOST_ENTRIES = 50_000;

function attributesOf(line: string): Record<string, string> {
  const pairs = [...line.matchAll(ATTRIBUTE)].map(([, key = '', quoted, bare]) => [key.toLowerCase(), quoted ?? bare]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** What stands behind the first comma outside of quotes. */
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

const said = (text: string | undefined): string | undefined => text?.trim() || undefined;

function entryOf({ title, attributes, group }: Pending, url: string): PlaylistEntry {
  const given = {
    guideId: said(attributes['tvg-id']),
    guideName: said(attributes['tvg-name']),
    number: said(attributes['tvg-chno'] ?? attributes['channel-number']),
    group: said(attributes['group-title']) ?? said(group),
    logo: said(attributes['tvg-logo']),
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined));
  return { name: title || given.guideName || url, url, radio: /^(true|1)$/.test(attributes.radio ?? ''), ...known };
}

/** Throws NotAPlaylist for what does not begin with #EXTM3U. Entries over the most are counted as skipped. */
export function readPlaylist(text: string): Playlist {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const header = lines.find((line) => line.trim() !== '') ?? '';
  if (!header.startsWith('#EXTM3U')) throw new NotAPlaylist('it does not begin with #EXTM3U');
  const { 'url-tvg': urlTvg, 'x-tvg-url': xTvgUrl } = attributesOf(header);
  const playlist: Playlist = { entries: [], guides: (urlTvg ?? xTvgUrl ?? '').split(',').filter(Boolean), skipped: 0 };
  let pending: Pending | undefined;
  for (const raw of lines) {
    const line = raw.trim();
    pending = read(playlist, pending, line);
  }
  return playlist;
}

/** One line; answers what the next ones are about. */
function read(playlist: Playlist, pending: Pending | undefined, line: string): Pending | undefined {
  if (line.startsWith('#EXTINF:')) return { title: titleOf(line), attributes: attributesOf(line) };
  if (line.startsWith('#EXTGRP:') && pending) return { ...pending, group: line.slice('#EXTGRP:'.length) };
  if (line === '' || line.startsWith('#') || !pending) return pending;
  if (SCHEMES.test(line) && playlist.entries.length < MOST_ENTRIES) playlist.entries.push(entryOf(pending, line));
  else playlist.skipped += 1;
  return undefined;
}
