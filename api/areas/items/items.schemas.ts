import { z } from 'zod';
import { Bytes, Day, Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';
import { Chapter, Marker, MediaFile } from './media.schemas.ts';

/** Built-in item types; types of the owner are `custom:<key>`. */
export const itemTypes = [
  'movie',
  'show',
  'season',
  'episode',
  'video',
  'artist',
  'album',
  'track',
  'photo',
  'photo-album',
  'author',
  'book',
  'audiobook',
  'comic-series',
  'comic',
  'game',
  'course',
  'section',
  'lesson',
  'channel',
  'program',
  'recording',
] as const;

export const ItemType = z
  .string()
  .regex(new RegExp(`^(?:${itemTypes.join('|')}|custom:[a-z0-9][a-z0-9_-]{0,39})$`))
  .describe(`One of ${itemTypes.join(', ')}, or custom:<key>`);

export const Artwork = z
  .object({
    poster: ImageRef.optional(),
    backdrop: ImageRef.optional(),
    thumb: ImageRef.optional(),
    logo: ImageRef.optional(),
  })
  .meta({ id: 'ItemArtwork' });

export const UserState = z
  .object({
    watched: z.boolean().describe('Of a container: everything in it'),
    progress: z.number().min(0).max(1).meta({ example: 0.24 }),
    positionMs: Milliseconds.meta({ example: 1380000 }),
    playCount: z.int(),
    lastPlayedAt: Timestamp.optional(),
    rating: z.number().optional().describe('0.5-10 in halves').meta({ example: 7.8 }),
    favorite: z.boolean(),
    inWatchlist: z.boolean(),
  })
  .meta({ id: 'UserState', description: "The profile's own" });
export type UserState = z.output<typeof UserState>;

export const PersonRole = z.enum([
  'actor',
  'voice',
  'guest',
  'self',
  'presenter',
  'director',
  'writer',
  'creator',
  'producer',
  'composer',
  'cinematographer',
  'editor',
  'author',
  'narrator',
  'illustrator',
  'translator',
  'artist',
  'conductor',
  'performer',
  'lecturer',
  'other',
]);

export const Credit = z
  .object({
    id: Id,
    personId: Id,
    name: z.string().meta({ example: 'Max Schreck' }),
    role: PersonRole,
    character: z.string().optional().meta({ example: 'Count Orlok' }),
    job: z.string().optional().meta({ example: 'Director' }),
    order: z.int(),
    guest: z.boolean().optional(),
    episodes: z.int().optional().describe('Number of episodes, on shows'),
    portrait: ImageRef.optional(),
  })
  .meta({ id: 'Credit' });
export type Credit = z.output<typeof Credit>;

const Named = z.object({ id: Id.optional(), name: z.string().meta({ example: 'Films' }) });
export const AirsBefore = z.object({ season: z.int(), episode: z.int().optional() });
const Some = <S extends z.ZodType>(item: S) => z.object({ items: z.array(item), hasMore: z.boolean() });

export const Availability = z.enum(['unavailable', 'missing']);

/** Members of `items.details` by type. A member that does not parse is left out. */
export const summaryDetails = {
  artists: z.array(Named).optional().describe('Album, track'),
  authors: z.array(Named).optional().describe('Book, audiobook, comic'),
  aspect: z.number().optional().describe('Width by height: photo, comic'),
  live: z.boolean().optional().describe('A photo with a moving part'),
  platform: z.string().optional().describe('Game').meta({ example: 'Android TV' }),
  number: z.string().optional().describe('Comic, channel'),
  pages: z.int().optional(),
};

/** What an item of an owner-made type is drawn and played like. */
export const baseType = z
  .string()
  .optional()
  .describe('Built-in type behind a custom:<key>, which it is drawn and played like');

const summary = {
  id: Id,
  libraryId: Id,
  type: z.string().meta({ example: 'movie' }),
  baseType,
  title: z.string().meta({ example: 'Nosferatu' }),
  sortTitle: z.string().meta({ example: 'nosferatu' }),
  originalTitle: z.string().optional().meta({ example: 'Nosferatu, eine Symphonie des Grauens' }),
  year: z.int().optional().meta({ example: 1922 }),
  releasedOn: Day.optional().meta({ example: '1922-03-04' }),
  parentId: Id.optional(),
  parentTitle: z.string().optional(),
  grandparentId: Id.optional(),
  grandparentTitle: z.string().optional(),
  index: z.int().optional(),
  indexEnd: z.int().optional().describe('The last of several episodes in one file'),
  parentIndex: z.int().optional().describe('Season, disc or volume'),
  airsBefore: AirsBefore.optional(),
  addedAt: Timestamp,
  runtimeMs: Milliseconds.optional().meta({ example: 5640000 }),
  ageRating: z.string().optional().meta({ example: 'PG' }),
  rating: z.number().optional().describe('0-10').meta({ example: 7.8 }),
  artwork: Artwork,
  userState: UserState,
  availability: Availability.optional().describe('Absent is available'),
  childCount: z.int().optional(),
  unwatchedCount: z.int().optional().describe("Containers, the caller's"),
  editionCount: z.int().optional(),
  resolution: z.enum(['sd', 'hd', 'fhd', '4k', '8k']).optional(),
  hdr: z.string().optional(),
  takenAt: Timestamp.optional(),
  progressLabel: z.string().optional().describe('Such as page 12 of 40').meta({ example: '24 of 94 minutes' }),
  matched: z.boolean().optional().describe('item:edit only'),
  lockedFields: z.array(z.string()).optional().describe('item:edit only'),
  ...summaryDetails,
};

/** An item without the members that `include` adds. */
export const ItemSummary = z.object(summary).meta({ id: 'ItemSummary' });
export type ItemSummary = z.output<typeof ItemSummary>;

/** Members that `include` adds to an item of a list. */
export const included = {
  files: z.array(MediaFile).optional(),
  people: Some(Credit).optional(),
  studios: z.array(Named).optional(),
  genres: z
    .array(z.string())
    .optional()
    .meta({ example: ['Horror'] }),
  labels: z
    .array(z.string())
    .optional()
    .meta({ example: ['Family evening'] }),
  collections: z.array(Named).optional(),
  parents: z.array(ItemSummary).optional().describe('Outermost first'),
  custom: z.record(z.string(), z.unknown()).optional(),
  externalIds: z.record(z.string(), z.string()).optional(),
};

export const ListedItem = z.object({ ...summary, ...included }).meta({ id: 'ListedItem' });
export type ListedItem = z.output<typeof ListedItem>;

export const ItemCard = z
  .object({
    id: Id,
    type: z.string().meta({ example: 'movie' }),
    baseType,
    title: z.string().meta({ example: 'Nosferatu' }),
    year: z.int().optional().meta({ example: 1922 }),
    artwork: z.object({ poster: ImageRef.optional() }),
    userState: z.object({ watched: z.boolean(), progress: z.number().meta({ example: 0.24 }) }),
  })
  .meta({ id: 'ItemCard', description: 'fields=card' });

/** More members of `items.details`, shown by getItem and the export only. */
export const moreDetails = {
  originalLanguage: z.string().optional().meta({ example: 'de' }),
  status: z.enum(['ended', 'continuing', 'upcoming']).optional().describe('Of a show'),
  airs: z.object({ days: z.array(z.string()), time: z.string().optional(), network: z.string().optional() }).optional(),
  publisher: z.string().optional(),
  narrators: z.array(Named).optional(),
  isbn: z.string().optional(),
  series: z
    .object({ id: Id.optional(), title: z.string().meta({ example: 'Nosferatu' }), number: z.string().optional() })
    .optional(),
  camera: z.string().optional(),
  lens: z.string().optional(),
  exposure: z
    .object({
      shutter: z.string().optional(),
      aperture: z.number().optional(),
      iso: z.number().optional(),
      focalMm: z.number().optional(),
    })
    .optional(),
  place: z
    .object({
      latitude: z.number(),
      longitude: z.number(),
      altitudeM: z.number().optional(),
      country: z.string().optional().meta({ example: 'GB' }),
      region: z.string().optional().meta({ example: 'eu-west-1' }),
      city: z.string().optional(),
    })
    .optional(),
  players: z.string().optional(),
  copyright: z.string().optional(),
  readingDirection: z.enum(['ltr', 'rtl', 'vertical']).optional(),
  collectionHint: z.string().optional(),
};
/** Lists of `items.details` that are empty when absent. */
export const detailLists = {
  ratings: z.array(
    z.object({
      source: z.string().meta({ example: 'imdb' }),
      value: z.number().min(0).max(10),
      votes: z.int().optional().meta({ example: 1204 }),
    }),
  ),
  trailers: z.array(
    z.object({
      title: z.string().meta({ example: 'Nosferatu' }),
      url: z.string().meta({ example: 'https://hooks.example/foyer' }),
      itemId: Id.optional(),
    }),
  ),
  links: z.array(
    z.object({
      name: z.string().meta({ example: 'Films' }),
      url: z.string().meta({ example: 'https://hooks.example/foyer' }),
    }),
  ),
  ageRatings: z.array(
    z.object({
      country: z.string().meta({ example: 'GB' }),
      value: z.string().meta({ example: 'PG' }),
      years: z.int().nullable().meta({ example: 8 }),
    }),
  ),
};

export const Lyrics = z.object({
  synced: z.boolean(),
  lines: z.array(z.object({ startMs: Milliseconds.optional(), text: z.string() })),
  source: z.enum(['sidecar', 'tag', 'agent']).optional(),
});

export const ExtraKind = z.enum([
  'trailer',
  'featurette',
  'behind-the-scenes',
  'deleted-scene',
  'interview',
  'scene',
  'short',
  'clip',
  'sample',
  'theme-song',
  'theme-video',
  'other',
]);
export const Extra = z.object({ ...summary, extraKind: ExtraKind, files: included.files }).meta({ id: 'ItemExtra' });

export const SimilarItem = z
  .object({
    ...summary,
    score: z.number().meta({ example: 0.92 }),
    because: z.array(z.enum(['genre', 'person', 'studio', 'tag', 'series', 'embedding'])),
  })
  .meta({ id: 'SimilarItem' });
export type SimilarItem = z.output<typeof SimilarItem>;

export const ItemDetail = z
  .object({
    ...summary,
    ...moreDetails,
    ...detailLists,
    overview: z
      .string()
      .optional()
      .meta({ example: 'An estate agent’s clerk travels to the castle of Count Orlok, who follows him home by ship.' }),
    tagline: z.string().optional().meta({ example: 'A symphony of horror' }),
    genres: z.array(z.string()).meta({ example: ['Horror'] }),
    tags: z.array(z.string()).meta({ example: ['silent'] }),
    labels: z.array(z.string()).meta({ example: ['Family evening'] }),
    studios: z.array(Named),
    countries: z.array(z.string()).meta({ example: ['DE'] }),
    externalIds: z.record(z.string(), z.string()).meta({ example: { imdb: 'tt0013442' } }),
    lockedFields: z.array(z.string()).meta({ example: ['title'] }),
    files: z.array(MediaFile),
    sizeBytes: Bytes.optional().meta({ example: 4294967296 }),
    extraOf: Id.optional(),
    extraKind: ExtraKind.optional(),
    addedBy: Id.optional().describe('Uploads'),
    revision: z.int(),
    updatedAt: Timestamp,
    may: z.object({ edit: z.boolean(), delete: z.boolean(), download: z.boolean(), refresh: z.boolean() }),
    next: ItemSummary.optional().describe('The child to continue with'),
    chapters: Some(Chapter).optional(),
    markers: Some(Marker).optional(),
    people: Some(Credit).optional(),
    collections: z.array(Named).optional(),
    children: Some(ItemSummary).optional(),
    parents: z.array(ItemSummary).optional().describe('Outermost first'),
    extras: Some(Extra).optional(),
    similar: Some(SimilarItem).optional(),
    custom: z.record(z.string(), z.unknown()).optional(),
    lyrics: Lyrics.optional(),
  })
  .meta({ id: 'ItemDetail' });
export type ItemDetail = z.output<typeof ItemDetail>;
