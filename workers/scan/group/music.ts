import type { MusicTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { splitName } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { discOf, type NamedAlbum, type NamedTrack, readAlbumFolder, readTrackName } from '../names/music.ts';
import { emptyNfo, type Nfo } from '../names/nfo-fields.ts';
import { titleKey } from '../names/title.ts';
import type { WalkedFile } from '../walk/types.ts';
import type { Draft, Drafting, Grouping, ItemKey } from './draft.ts';
import { draftFile, inside } from './local.ts';

/** The artist of albums with many, as MusicBrainz and taggers name it. */
const VARIOUS = 'Various Artists';
const UNKNOWN_ARTIST = 'Unknown artist';
const UNKNOWN_ALBUM = 'Unknown album';
/** Of several files of one track the first is played; lossless ones come first. */
const LOSSLESS = ['flac', 'alac', 'wav', 'aif', 'aiff', 'ape', 'wv', 'dsf'];

interface Track {
  file: WalkedFile;
  tags: MusicTags | undefined;
  named: NamedTrack;
}

interface Album {
  artist: string;
  title: string;
  key: string;
  /** Of one disc or more in this directory. */
  tracks: Track[];
  named: NamedAlbum | undefined;
}

/**
 * Artists, albums and tracks of one directory. An album is found by its release id, else by album artist, album and
 * folder; the folders of its discs belong to one album.
 */
export function* groupMusic(grouping: Grouping): Drafting {
  const tracks: Track[] = [];
  for (const file of grouping.files) {
    if (!isMedia(grouping.library.type, file.name)) continue;
    tracks.push({ file, tags: grouping.inside?.get(file.name)?.music, named: readTrackName(file.name) });
    yield;
  }
  const place = placeOf(grouping);
  for (const album of albumsOf(place, tracks)) {
    yield artistDraft(album);
    yield albumDraft(album);
    for (const versions of versionsOf(album.tracks)) yield trackDraft(grouping, { place, album, versions });
  }
  return [];
}

interface Place {
  /** Folder of the album, without that of a disc; empty at the top of the library. */
  folder: string;
  disc: number | undefined;
  album: NamedAlbum | undefined;
  /** The folder above that of the album. */
  artist: string | undefined;
}

/** Folders of an artist that hold albums of a kind. */
const SHELF = /^(?:(?:studio )?albums?|singles?|eps?|lps?|live(?: albums)?|compilations?|discography)$/i;
/** Folders of albums with many artists. */
const MANY = /^(?:va|v\.a\.|various(?: artists)?|compilations?)$/i;

/** The folder above that of the album, without a shelf between. */
function artistAbove(names: readonly string[]): string | undefined {
  const above = names.at(-2);
  return names.length > 2 && above !== undefined && SHELF.test(above) ? names.at(-3) : above;
}

function placeOf({ within, directory }: Grouping): Place {
  const disc = within.length > 1 ? discOf(within.at(-1) ?? '') : undefined;
  const names = disc === undefined ? within : within.slice(0, -1);
  const artist = artistAbove(names);
  const name = names.at(-1);
  const album = name === undefined ? undefined : readAlbumFolder(name, artist);
  return {
    folder: disc === undefined ? directory : directory.slice(0, Math.max(0, directory.lastIndexOf('/'))),
    disc: disc ?? album?.disc,
    album,
    artist,
  };
}

function albumsOf(place: Place, tracks: readonly Track[]): Album[] {
  const byTitle = Map.groupBy(
    tracks,
    ({ tags }) => tags?.ids['release'] ?? titleKey(tags?.album ?? place.album?.title ?? ''),
  );
  return [...byTitle.values()].map((own) => albumOf(place, own));
}

function albumOf(place: Place, tracks: Track[]): Album {
  const [first] = tracks;
  const title = first?.tags?.album ?? place.album?.title ?? UNKNOWN_ALBUM;
  const artist = artistOf(place, tracks);
  const release = first?.tags?.ids['release'];
  const key = release === undefined ? `${titleKey(artist)}|${titleKey(title)}|${place.folder}` : `r:${release}`;
  return { artist, title, key, tracks, named: place.album };
}

/** The album artist of the tags, else the one artist of all its tracks, else what the folders say. */
function artistOf({ album, artist }: Place, tracks: readonly Track[]): string {
  const named = tracks.flatMap(({ tags }) => tags?.albumArtists[0] ?? [])[0];
  if (named !== undefined) return named;
  if (tracks.some(({ tags }) => tags?.compilation)) return VARIOUS;
  const performers = tracks.flatMap(({ tags }) => tags?.artists[0] ?? []);
  if (new Set(performers.map(titleKey)).size > 1) return VARIOUS;
  return performers[0] ?? namedArtist({ album, artist }, tracks);
}

function namedArtist({ album, artist }: Pick<Place, 'album' | 'artist'>, tracks: readonly Track[]): string {
  const found = album?.artist ?? artist ?? tracks[0]?.named.artist ?? UNKNOWN_ARTIST;
  return MANY.test(found) ? VARIOUS : found;
}

/** Files that differ only in their extension are versions of one track. */
function versionsOf(tracks: readonly Track[]): Track[][] {
  const rank = ({ file }: Track): number => Number(!LOSSLESS.includes(splitName(file.name).extension));
  const byStem = Map.groupBy(tracks, ({ file }) => splitName(file.name).stem);
  return [...byStem.values()].map((versions) => versions.toSorted((a, b) => rank(a) - rank(b)));
}

const artistKey = ({ artist }: Album): ItemKey => ({ type: 'artist', key: titleKey(artist) });
const albumKey = ({ key }: Album): ItemKey => ({ type: 'album', key });

function artistDraft(album: Album): Draft {
  const tags = album.tracks.find(({ tags: its }) => its?.albumArtists.length)?.tags;
  const id = tags?.ids['albumArtist'];
  const sortTitle = tags?.sorts.albumArtist;
  return {
    ...artistKey(album),
    top: false,
    title: album.artist,
    ids: id === undefined ? {} : { musicbrainz: id },
    ...(sortTitle && { nfo: { ...emptyNfo('embedded'), sortTitle } }),
    artwork: {}, // the decoration adds pictures
    files: [],
  };
}

function albumDraft(album: Album): Draft {
  const tags = album.tracks.flatMap((track) => track.tags ?? []);
  const date = tags.flatMap((one) => one.date ?? []).toSorted()[0];
  const [first] = tags;
  const ids = {
    musicbrainz: first?.ids['release'],
    musicbrainzReleaseGroup: first?.ids['releaseGroup'],
    barcode: first?.ids['barcode'],
  };
  return {
    ...albumKey(album),
    parent: artistKey(album),
    top: true,
    title: album.title,
    ...yearOf(date, album.named?.year),
    ids: known(ids),
    details: { artists: namesOf([album.artist]), albumArtists: namesOf([album.artist]) },
    nfo: {
      ...emptyNfo('embedded'),
      ...(first?.sorts.album && { sortTitle: first.sorts.album }),
      genres: unique(tags.flatMap((one) => one.genres)),
      studios: unique(tags.flatMap((one) => one.labels)),
    },
    artwork: {},
    files: [],
  };
}

function trackDraft(grouping: Grouping, of: { place: Place; album: Album; versions: readonly Track[] }): Draft {
  const { place, album, versions } = of;
  const [track] = versions as [Track];
  const artists = artistsOf(track, album);
  return {
    type: 'track',
    key: `p:${inside(grouping.directory, splitName(track.file.name).stem)}`,
    parent: albumKey(album),
    grandparent: artistKey(album),
    top: false,
    title: track.tags?.title ?? track.named.title,
    ...yearOf(track.tags?.date, undefined),
    ...present(numbersOf(track, place)),
    ids: known({ musicbrainz: track.tags?.ids['recording'], isrc: track.tags?.ids['isrc'] }),
    details: { artists: namesOf(artists), albumArtists: namesOf([album.artist]) },
    nfo: describedBy(track, artists),
    artwork: {},
    files: versions.map(({ file: { name } }, rank) =>
      draftFile(grouping, name, {
        rank,
        ...(versions.length > 1 && { edition: splitName(name).extension.toUpperCase() }),
      }),
    ),
  };
}

function artistsOf({ tags, named }: Track, album: Album): readonly string[] {
  return tags?.artists.length ? tags.artists : [named.artist ?? album.artist];
}

function numbersOf(
  { tags, named }: Track,
  { disc }: Place,
): { index: number | undefined; parentIndex: number | undefined } {
  return { index: tags?.track ?? named.track, parentIndex: tags?.disc ?? disc ?? named.disc };
}

/** What the tags of a track say, in the shape of an NFO file. */
function describedBy({ tags }: Track, artists: readonly string[]): Nfo {
  return {
    ...emptyNfo('embedded'),
    ...present({ sortTitle: tags?.sorts.title }),
    genres: tags?.genres ?? [],
    credits: [
      ...artists.map((name) => ({ role: 'artist' as const, name })),
      ...(tags?.composers ?? []).map((name) => ({ role: 'composer' as const, name })),
    ],
  };
}

const namesOf = (names: readonly string[]): { name: string }[] => names.map((name) => ({ name }));

const unique = (names: readonly string[]): string[] => [...new Set(names)];

const known = (ids: Record<string, string | undefined>): Record<string, string> =>
  present(ids) as Record<string, string>;

/** YYYY gives a year alone, YYYY-MM-DD the day too. */
function yearOf(date: string | undefined, other: number | undefined): Pick<Draft, 'year' | 'releasedOn'> {
  const year = date === undefined ? other : Number(date.slice(0, 4));
  if (year === undefined) return {};
  return date?.length === 'YYYY-MM-DD'.length && !Number.isNaN(Date.parse(date))
    ? { year, releasedOn: date }
    : { year };
}
