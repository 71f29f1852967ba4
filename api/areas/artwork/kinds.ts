import { z } from 'zod';

export const artworkKinds = [
  ...(['poster', 'backdrop', 'thumb', 'logo', 'banner', 'clearart', 'disc', 'square', 'cover', 'spine'] as const),
  ...(['still', 'portrait', 'avatar'] as const),
] as const;
export const ArtworkKind = z.enum(artworkKinds);
export type ArtworkKind = z.output<typeof ArtworkKind>;

/** Backdrops that an item shows at once; of every other kind it shows one. */
export const MOST_BACKDROPS = 20;
/** Images that are kept of one kind. */
export const MOST_IMAGES = 50;

const TITLE: readonly ArtworkKind[] = ['poster', 'backdrop', 'thumb', 'logo', 'banner', 'clearart'];
const PAGES: readonly ArtworkKind[] = ['cover', 'spine'];
const OTHERS: readonly ArtworkKind[] = ['poster', 'backdrop', 'thumb', 'logo'];

const kinds: Readonly<Record<string, readonly ArtworkKind[]>> = {
  ...Object.fromEntries(['movie', 'show', 'season', 'course', 'game'].map((type) => [type, TITLE])),
  ...Object.fromEntries(['episode', 'video', 'lesson', 'recording', 'program'].map((type) => [type, ['still']])),
  ...Object.fromEntries(['book', 'audiobook', 'comic', 'comic-series'].map((type) => [type, PAGES])),
  artist: ['square', 'backdrop', 'logo'],
  album: ['cover', 'disc'],
  track: ['cover'],
  author: ['square'],
  photo: ['thumb'],
  'photo-album': ['cover'],
  channel: ['logo'],
};

/** The kinds of pictures that items of a type have. */
export const kindsOf = (type: string): readonly ArtworkKind[] => kinds[type] ?? OTHERS;

/** Kinds that stand for another one, the nearest first: an episode has no poster, but a still. */
const STAND_FOR: Readonly<Record<string, readonly ArtworkKind[]>> = {
  poster: ['poster', 'cover', 'square', 'still', 'thumb'],
  cover: ['cover', 'poster', 'square', 'still', 'thumb'],
  thumb: ['thumb', 'still', 'cover', 'square'],
};

/** The kind that a picture of another kind has on items of this type; undefined when it has none. */
export function fittingKind(type: string, word: string): ArtworkKind | undefined {
  const own = kindsOf(type);
  return (STAND_FOR[word] ?? [word as ArtworkKind]).find((kind) => own.includes(kind));
}

/** The kind in the middle of a card of this type. */
export const mainKind = (type: string): ArtworkKind => fittingKind(type, 'poster') ?? 'poster';

/** Members of ItemSummary.artwork with the kinds that fill them, the nearest first. */
export const SLOTS: readonly (readonly [
  slot: 'poster' | 'backdrop' | 'thumb' | 'logo',
  kinds: readonly ArtworkKind[],
])[] = [
  ['poster', ['poster', 'cover', 'square']],
  ['backdrop', ['backdrop']],
  ['thumb', ['thumb', 'still']],
  ['logo', ['logo']],
];
