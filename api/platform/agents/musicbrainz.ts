import { z } from 'zod';
import { calendarDay } from '../calendar.ts';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import type { Agent, Description, Found, Identity, KnownChild, Query, RemotePicture, Wanted } from './agent.ts';
import { credits, idOf, known, list, names, number, text, UUID, yearOf } from './parts.ts';

const MOST_FOUND = 20;
const GENRES = 10;

const Credit = list(
  z.object({ name: text(), artist: z.object({ id: z.string(), name: text() }), joinphrase: z.string().nullish() }),
);
const Genre = z.object({ name: text(), count: number() });
const Relation = z.object({
  type: text(),
  url: z.object({ resource: z.string() }).nullish(),
});
const Group = z.object({
  id: z.string(),
  title: text(),
  'primary-type': text(),
  'first-release-date': text(),
  'artist-credit': Credit,
  genres: list(Genre),
  tags: list(Genre),
  rating: z.object({ value: number(), 'votes-count': number() }).nullish(),
  releases: list(z.object({ id: z.string() })),
  relations: list(Relation),
});
type Group = z.output<typeof Group>;
const Release = z.object({
  id: z.string(),
  title: text(),
  date: text(),
  country: text(),
  barcode: text(),
  'artist-credit': Credit,
  'label-info': list(z.object({ label: z.object({ name: text() }).nullish() })),
  'release-group': Group.nullish(),
  'track-count': number(),
  media: list(z.object({ 'track-count': number() })),
});
type Release = z.output<typeof Release>;
const Artist = z.object({
  id: z.string(),
  name: text(),
  'sort-name': text(),
  disambiguation: text(),
  country: text(),
  'life-span': z.object({ begin: text(), end: text() }).nullish(),
  aliases: list(z.object({ name: text() })),
  genres: list(Genre),
  relations: list(Relation),
});
type Artist = z.output<typeof Artist>;
const Releases = z.object({ releases: list(Release) });
const Artists = z.object({ artists: list(Artist) });
const Groups = z.object({ 'release-groups': list(Group) });

/** A phrase of Lucene: only quotes and backslashes have a meaning in it. */
const phrase = (value: string): string => `"${value.slice(0, 300).replace(/["\\]/g, ' ')}"`;
const by = (all: Group['artist-credit']): string[] => names(all.map(({ name, artist }) => name ?? artist.name));
const genresOf = (all: readonly z.output<typeof Genre>[]): string[] =>
  names(
    [...all].sort((a, b) => (b.count ?? 0) - (a.count ?? 0)).map(({ name }) => name),
    GENRES,
  );

const get = async <S extends z.ZodType>(
  query: Query,
  path: string,
  more: { schema: S; query?: Record<string, string> },
) => query({ path: `/ws/2/${path}`, query: { fmt: 'json', ...more.query }, schema: more.schema });

const isArtist = (type: string): boolean => type === 'artist';

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'musicbrainz', UUID);
  if (isArtist(wanted.type)) return findArtists(query, wanted, id);
  const release = id ? await releaseOf(query, id) : undefined;
  if (release) return [foundRelease(release)];
  const artist = wanted.by?.[0];
  const terms = `release:${phrase(wanted.title)}${artist ? ` AND artist:${phrase(artist)}` : ''}`;
  const answer = await get(query, 'release', { query: { query: terms, limit: String(MOST_FOUND) }, schema: Releases });
  return (answer?.releases ?? []).map(foundRelease);
}

async function findArtists(query: Query, { title }: Wanted, id: string | undefined): Promise<Found[]> {
  const own = id ? await artistOf(query, id) : undefined;
  if (own) return [foundArtist(own)];
  const terms = `artist:${phrase(title)} OR alias:${phrase(title)}`;
  const answer = await get(query, 'artist', { query: { query: terms, limit: String(MOST_FOUND) }, schema: Artists });
  return (answer?.artists ?? []).map(foundArtist);
}

const foundArtist = (artist: Artist): Found =>
  known<Found>({
    ids: { musicbrainz: artist.id },
    type: 'artist',
    title: artist.name ?? '',
    aliases: names(artist.aliases.map(({ name }) => name)),
    overview: artist.disambiguation,
  });

const trackCount = (release: Release): number | undefined =>
  release['track-count'] ?? (release.media.reduce((sum, one) => sum + (one['track-count'] ?? 0), 0) || undefined);

function foundRelease(release: Release): Found {
  const tracks = trackCount(release);
  return known<Found>({
    ids: releaseIds(release),
    type: 'album',
    title: release.title ?? '',
    by: by(release['artist-credit']),
    year: yearOf(release.date),
    releasedOn: calendarDay(release.date),
    childCounts: tracks ? { tracks } : undefined,
  });
}

const releaseIds = (release: Release) =>
  known<Record<string, string>>({ musicbrainz: release.id, musicbrainzReleaseGroup: release['release-group']?.id });

const artistOf = (query: Query, id: string) =>
  get(query, `artist/${id}`, { query: { inc: 'aliases+genres+url-rels' }, schema: Artist });
const releaseOf = (query: Query, id: string) =>
  get(query, `release/${id}`, { query: { inc: 'artist-credits+labels+release-groups+genres+media' }, schema: Release });
const groupOf = (query: Query, id: string) =>
  get(query, `release-group/${id}`, { query: { inc: 'artist-credits+genres+ratings+url-rels' }, schema: Group });

async function describe(query: Query, { type, ids }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'musicbrainz', UUID);
  if (!isArtist(type)) return describeAlbum(query, ids);
  const artist = id ? await artistOf(query, id) : undefined;
  return artist && { values: artistValues(artist), pictures: [] };
}

async function describeAlbum(query: Query, ids: Identity['ids']): Promise<Description | undefined> {
  const id = idOf(ids, 'musicbrainz', UUID);
  const release = id ? await releaseOf(query, id) : undefined;
  const groupId = release?.['release-group']?.id ?? idOf(ids, 'musicbrainzReleaseGroup', UUID);
  const group = groupId ? await groupOf(query, groupId) : undefined;
  if (!release && !group) return undefined;
  return { values: albumValues(release, group), pictures: [] };
}

function albumValues(release: Release | undefined, group: Group | undefined): ItemValues {
  const values = { ...(release && releaseValues(release)), ...(group && groupValues(group)) };
  return { ...values, externalIds: { ...(release && releaseIds(release)), ...(group && groupIds(group)) } };
}

/** Ids of other catalogues that the links of an entity name. */
function linkedIds(relations: readonly z.output<typeof Relation>[]): Record<string, string> {
  const found = relations.flatMap(({ url }) => {
    const [, wikidata] = /^https?:\/\/www\.wikidata\.org\/wiki\/(Q\d{1,12})$/.exec(url?.resource ?? '') ?? [];
    return wikidata ? [['wikidata', wikidata] as const] : [];
  });
  return Object.fromEntries(found);
}

const artistValues = (artist: Artist): ItemValues =>
  known<ItemValues>({
    title: artist.name,
    sortTitle: artist['sort-name'],
    genres: genresOf(artist.genres),
    countries: names([artist.country]).filter((code) => /^[A-Z]{2}$/.test(code)),
    externalIds: { musicbrainz: artist.id, ...linkedIds(artist.relations) },
  });

const groupIds = (group: Group): Record<string, string> => ({
  musicbrainzReleaseGroup: group.id,
  ...linkedIds(group.relations),
});

/** What all releases of an album share: the first day, the genres, the rating. */
function groupValues(group: Group): ItemValues {
  const released = group['first-release-date'];
  const rating = group.rating?.value;
  return known<ItemValues>({
    title: group.title,
    year: yearOf(released),
    releasedOn: calendarDay(released),
    rating: rating === undefined ? undefined : rating * 2,
    genres: genresOf(group.genres),
    artists: by(group['artist-credit']),
    people: makers(group['artist-credit']),
  });
}

const releaseValues = (release: Release): ItemValues =>
  known<ItemValues>({
    title: release.title,
    year: yearOf(release.date),
    releasedOn: calendarDay(release.date),
    studios: names(release['label-info'].map(({ label }) => label?.name)),
    artists: by(release['artist-credit']),
    people: makers(release['artist-credit']),
  });

const makers = (all: Group['artist-credit']): NamedCredit[] =>
  credits(
    all.map(({ artist, name }) => ({
      role: 'artist',
      name: name ?? artist.name ?? '',
      ids: { musicbrainz: artist.id },
    })),
  );

/** The albums of an artist. */
async function children(query: Query, { type, ids }: Identity): Promise<KnownChild[]> {
  const id = isArtist(type) ? idOf(ids, 'musicbrainz', UUID) : undefined;
  if (!id) return [];
  const answer = await get(query, 'release-group', {
    query: { artist: id, type: 'album|ep', limit: '100' },
    schema: Groups,
  });
  return (answer?.['release-groups'] ?? []).map((group) =>
    known<KnownChild>({
      type: 'album',
      title: group.title ?? '',
      releasedOn: calendarDay(group['first-release-date']),
      externalIds: { musicbrainzReleaseGroup: group.id },
    }),
  );
}

export const musicbrainz: Agent = {
  id: 'musicbrainz',
  name: 'MusicBrainz',
  homepage: 'https://musicbrainz.org/',
  provider: 'musicbrainz',
  itemTypes: ['artist', 'album'],
  offers: ['identify', 'metadata', 'people', 'ratings', 'missing-children'],
  address: 'https://musicbrainz.org',
  rate: { everyMs: 1000, burst: 1 },
  ping: {
    path: '/ws/2/genre/all',
    query: { fmt: 'json', limit: 1 },
    schema: z.object({ genres: z.array(z.unknown()) }),
  },
  identify,
  describe,
  children,
};

const Cover = z.object({
  images: list(
    z.object({
      image: z.url({ protocol: /^https?$/ }),
      types: list(z.string()),
      front: z.boolean().nullish(),
      approved: z.boolean().nullish(),
      thumbnails: z.record(z.string(), z.string()).nullish(),
    }),
  ),
});

async function covers(query: Query, { ids }: Identity): Promise<RemotePicture[]> {
  const release = idOf(ids, 'musicbrainz', UUID);
  const group = idOf(ids, 'musicbrainzReleaseGroup', UUID);
  const own = release ? await query({ path: `/release/${release}`, schema: Cover }) : undefined;
  const answer = own ?? (group ? await query({ path: `/release-group/${group}`, schema: Cover }) : undefined);
  return (answer?.images ?? []).flatMap(({ image, types, front, thumbnails }) => {
    const kind = front || types.includes('Front') ? 'poster' : types.includes('Medium') ? 'disc' : undefined;
    const previewUrl = thumbnails?.['250'] ?? thumbnails?.['small'];
    return kind ? [known<RemotePicture>({ kind, url: image, previewUrl })] : [];
  });
}

export const coverartarchive: Agent = {
  id: 'coverartarchive',
  name: 'Cover Art Archive',
  homepage: 'https://coverartarchive.org/',
  itemTypes: ['album'],
  offers: ['artwork'],
  address: 'https://coverartarchive.org',
  rate: { everyMs: 250, burst: 4 },
  ping: { path: '/release/76df3287-6cda-33eb-8e9a-044b5e15ffdd', schema: Cover },
  artwork: covers,
};
