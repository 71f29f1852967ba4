// NFO files as Kodi reads them.

import { namesIn, peopleIn, type SavedItem } from './values.ts';
import { documentOf, group, line, lines, type Xml } from './xml.ts';

const ROOTS: Readonly<Record<string, string>> = {
  movie: 'movie',
  video: 'movie',
  show: 'tvshow',
  season: 'season',
  episode: 'episodedetails',
  artist: 'artist',
  album: 'album',
};

/** The NFO of an item; undefined for a type that has none. */
export function nfoOf(item: SavedItem): Buffer | undefined {
  const root = ROOTS[item.type];
  if (root === undefined) return undefined;
  const members = root === 'artist' ? artistOf(item) : root === 'album' ? albumOf(item) : filmOf(item);
  const custom = (item.custom ?? []).map(({ key, value }) => line('field', value, { key }));
  return documentOf(group(root, [...members, group('customfields', custom)]));
}

function filmOf(item: SavedItem): Xml[] {
  const { values } = item;
  return [
    line('title', values.title),
    line('originaltitle', values.originalTitle),
    line('sorttitle', values.sortTitle),
    line('originallanguage', values.originalLanguage),
    ratingOf(item),
    line('plot', values.overview),
    line('tagline', values.tagline),
    line('mpaa', values.ageRating),
    ...placeOf(item),
    idsOf(item),
    lines('genre', values.genres),
    lines('tag', values.tags),
    lines('country', values.countries),
    lines('credits', namesIn(values, 'writer')),
    lines('director', namesIn(values, 'director')),
    line(item.type === 'episode' ? 'aired' : 'premiered', values.releasedOn),
    line('year', values.year),
    line('status', values.status === undefined ? undefined : STATES[values.status]),
    lines('studio', values.studios),
    ...actorsOf(item),
  ];
}

const STATES = { ended: 'Ended', continuing: 'Continuing', upcoming: 'Upcoming' } as const;

function ratingOf({ values: { rating } }: SavedItem): Xml {
  if (rating === undefined) return [];
  return group('ratings', [group('rating', [line('value', rating)], { name: 'default', max: '10', default: 'true' })]);
}

/** The numbers of a season or an episode, and the place of a special among the others. */
function placeOf({ type, values: { index, parentIndex, airsBefore } }: SavedItem): Xml[] {
  if (type === 'season') return [line('seasonnumber', index)];
  if (type !== 'episode') return [];
  return [
    line('season', parentIndex),
    line('episode', index),
    line('displayseason', airsBefore?.season),
    line('displayepisode', airsBefore?.episode),
  ];
}

/** The ids of catalogues; the first one is the one that Kodi goes by. */
function idsOf({ values: { externalIds = {} } }: SavedItem): Xml {
  return Object.entries(externalIds).flatMap(([type, id], at) =>
    line('uniqueid', id, { type, ...(at === 0 && { default: 'true' }) }),
  );
}

function actorsOf({ values }: SavedItem): Xml[] {
  return peopleIn(values, 'actor', 'voice', 'guest', 'self', 'presenter').map(({ name, character }, order) =>
    group('actor', [line('name', name), line('role', character), line('order', order)]),
  );
}

function artistOf({ values }: SavedItem): Xml[] {
  return [
    line('name', values.title),
    line('sortname', values.sortTitle),
    line('musicBrainzArtistID', values.externalIds?.['musicbrainz']),
    lines('genre', values.genres),
    lines('tag', values.tags),
    line('biography', values.overview),
    line('formed', values.year),
  ];
}

function albumOf(item: SavedItem): Xml[] {
  const { values } = item;
  const { externalIds = {}, artists = [] } = values;
  return [
    line('title', values.title),
    line('musicbrainzalbumid', externalIds['musicbrainz']),
    line('musicbrainzreleasegroupid', externalIds['musicbrainzReleaseGroup']),
    lines('artistdesc', artists.length > 0 ? [artists.join(' / ')] : []),
    lines('genre', values.genres),
    lines('tag', values.tags),
    line('review', values.overview),
    line('rating', values.rating),
    line('releasedate', values.releasedOn),
    line('year', values.year),
    line('label', values.studios?.[0]),
    ...artists.map((artist) => group('albumArtistCredits', [line('artist', artist)])),
  ];
}
