import type { ICommonTagsResult } from 'music-metadata';
import type { MusicTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';

const MOST_NAMES = 50;
const MOST_TEXT = 300;
const LONGEST_LIST = 4000;

type Common = ICommonTagsResult;

/** Our form of the tags that music-metadata reads, with every text and list bounded. */
export function tagsOf(common: Common): MusicTags {
  const text = (value: unknown): string | undefined => line(value) || undefined;
  return {
    ...present({
      title: text(common.title),
      album: text(common.album),
      track: numberOf(common.track.no),
      disc: numberOf(common.disk.no),
      discs: numberOf(common.disk.of),
      discTitle: text(common.discsubtitle?.[0]),
      date: dateOf(common),
    }),
    artists: performers(common),
    albumArtists: unique(common.albumartists?.length ? common.albumartists : split(common.albumartist, [';', ' / '])),
    compilation: common.compilation === true,
    genres: unique((common.genre ?? []).flatMap((genre) => split(genre, [';', '/', ',', '|']))),
    labels: unique(common.label),
    composers: unique(common.composer),
    sorts: present({
      title: text(common.titlesort),
      album: text(common.albumsort),
      albumArtist: text(common.albumartistsort),
    }),
    ids: idsOf(common),
  };
}

/** Several artists in one text are taken apart only at signs that names do not contain: AC/DC stays whole. */
function performers({ artists, artist }: Common): string[] {
  const named = artists && artists.length > 1 ? artists : split(artist ?? artists?.[0], [';', ' / ']);
  return unique(named.flatMap((name) => split(name, [' feat. ', ' Feat. ', ' featuring ', ' ft. ', ' Ft. '])));
}

/** The text between any of the separators. */
function split(text: unknown, separators: readonly string[]): string[] {
  let parts = typeof text === 'string' ? [text.slice(0, LONGEST_LIST)] : [];
  for (const separator of separators) parts = parts.flatMap((part) => part.split(separator));
  return parts;
}

function unique(names: readonly unknown[] | undefined): string[] {
  return [...new Set((names ?? []).slice(0, MOST_NAMES).map(line))].filter((name) => name !== '').slice(0, MOST_NAMES);
}

/** One line without control characters, at most 300 characters. */
function line(value: unknown): string {
  if (typeof value !== 'string') return '';
  const cut = value.slice(0, MOST_TEXT).toWellFormed();
  return cut.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 10_000 ? value : undefined;
}

const DATE = /^\d{4}(?:-\d{2}(?:-\d{2})?)?/;

function dateOf({ originaldate, originalyear, date, year }: Common): string | undefined {
  for (const candidate of [originaldate, originalyear, date, year]) {
    const found = DATE.exec(String(candidate ?? '').slice(0, 10))?.[0];
    if (found && Number(found.slice(0, 4)) > 0) return found;
  }
  return undefined;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idsOf(common: Common): Record<string, string> {
  const uuids = {
    release: common.musicbrainz_albumid,
    releaseGroup: common.musicbrainz_releasegroupid,
    recording: common.musicbrainz_recordingid,
    artist: common.musicbrainz_artistid?.[0],
    albumArtist: common.musicbrainz_albumartistid?.[0],
  };
  const codes = { isrc: common.isrc?.[0], barcode: common.barcode };
  return Object.fromEntries([
    ...Object.entries(uuids)
      .map(([name, id]) => [name, line(id).toLowerCase()] as const)
      .filter(([, id]) => ID.test(id)),
    ...Object.entries(codes)
      .map(([name, code]) => [name, line(code)] as const)
      .filter(([, code]) => /^[\w-]{8,20}$/.test(code)),
  ]);
}
