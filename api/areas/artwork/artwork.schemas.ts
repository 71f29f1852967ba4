import { z } from 'zod';
import { commaList, Id, ImageRef, queryBool, queryInt, Timestamp } from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';
import { ArtworkKind, MOST_BACKDROPS } from './kinds.ts';

const fraction = z.number().min(0).max(1).meta({ example: 0.5 });
const Point = z.strictObject({ x: fraction, y: fraction });
const Colour = z
  .string()
  .regex(/^#[0-9a-f]{6}$/)
  .meta({ example: '#1b2a41' });
/** A language tag of BCP 47. */
const Language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/)
  .meta({ example: 'en' });

export const imageOwners = [
  ...(['item', 'chapter', 'person', 'face', 'face-group', 'collection', 'playlist', 'library', 'profile'] as const),
  ...(['studio', 'genre', 'channel', 'program', 'title', 'service', 'note', 'branding'] as const),
] as const;
export const imageSources = [
  ...(['agent', 'local', 'embedded', 'upload', 'url', 'frame', 'mosaic', 'face', 'generated'] as const),
] as const;

export const Image = ImageRef.extend({
  owner: z.object({ kind: z.enum(imageOwners), id: Id }),
  source: z.enum(imageSources),
  agent: z.string().optional().meta({ example: 'tmdb' }),
  sourceUrl: z
    .string()
    .optional()
    .describe('With `item:edit` only')
    .meta({ example: 'https://pictures.example/poster.jpg' }),
  language: z.string().optional().meta({ example: 'en' }),
  mime: z.string().meta({ example: 'image/jpeg' }),
  sizeBytes: z.int().meta({ example: 481_022 }),
  animated: z.boolean(),
  dominant: Colour,
  palette: z.array(Colour).max(5),
  focus: Point.optional().describe('The point that stays visible when the picture is cropped'),
  selected: z.boolean(),
  position: z.int().optional().describe('Among the selected ones'),
  locked: z.boolean().describe('The choice of its kind is kept by refreshes and scans'),
  rating: z.number().optional(),
  votes: z.int().optional(),
  addedBy: Id.optional().describe('With `item:edit` only'),
  addedAt: Timestamp,
}).meta({ id: 'Image' });
export type Image = z.output<typeof Image>;

export const ImageInfo = Image.extend({
  usedBy: z
    .array(z.object({ kind: z.enum(imageOwners), id: Id, title: z.string().meta({ example: 'Heat' }) }))
    .optional()
    .describe('With `item:edit` only'),
}).meta({ id: 'ImageInfo' });
export type ImageInfo = z.output<typeof ImageInfo>;

const KindSet = z.object({
  selected: z.array(Id).describe('Images in order'),
  locked: z.boolean(),
  images: z.array(Image).max(50),
});
export const ArtworkSet = z.object({ kinds: z.partialRecord(ArtworkKind, KindSet) }).meta({ id: 'ArtworkSet' });
export type ArtworkSet = z.output<typeof ArtworkSet>;

export const ArtworkCandidate = z
  .object({
    id: z.string().meta({ example: 'tmdb-1f09' }),
    kind: ArtworkKind,
    agent: z.string().meta({ example: 'tmdb' }),
    previewUrl: z.string().describe("The server's own address").meta({ example: '/api/v1/images/preview' }),
    width: z.int().optional(),
    height: z.int().optional(),
    language: z.string().optional().meta({ example: 'en' }),
    rating: z.number().optional(),
    votes: z.int().optional(),
    kept: z.boolean().describe('Already an image of the item'),
    licence: z.string().optional().meta({ example: 'CC BY-SA 4.0' }),
    credit: z.string().optional().meta({ example: 'Ada' }),
  })
  .meta({ id: 'ArtworkCandidate' });
export type ArtworkCandidate = z.output<typeof ArtworkCandidate>;

export const Candidates = z.object({
  items: z.array(ArtworkCandidate).max(300),
  failed: z.array(
    z.object({ agent: z.string().meta({ example: 'tmdb' }), reason: z.string().meta({ example: 'timeout' }) }),
  ),
});

const ticket = z.string().max(2000).optional().describe('Cast ticket');
const fit = z.enum(['contain', 'cover', 'inside']).default('inside');
const quality = queryInt(40, 95).default(80).describe('Rounded up to a step of 5');
const side = queryInt(1, 3840).optional().describe('Rounded up to one of 13 sizes, never above the original');

export const ImageQuery = z.object({
  width: side,
  height: side,
  fit,
  format: z.enum(['auto', 'avif', 'webp', 'jpeg', 'png', 'original']).default('auto'),
  quality,
  v: z.string().max(40).optional().describe('Version of the ImageRef, which makes the answer immutable'),
  blur: queryInt(0, 50).default(0),
  animated: queryBool.default(false),
  ticket,
});

export const ItemImageQuery = z.object({
  width: side,
  height: side,
  fit,
  format: z.enum(['auto', 'avif', 'webp', 'jpeg', 'png']).default('auto'),
  quality,
  index: queryInt(0, MOST_BACKDROPS - 1)
    .default(0)
    .describe('Of backdrops'),
  fallback: z.enum(['none', 'parent', 'generated']).default('parent'),
  ticket,
});
export type ItemImageQuery = z.output<typeof ItemImageQuery>;

export const KindParams = z.object({ id: Id, kind: ArtworkKind });
export const KindsQuery = z.object({ kind: commaList(ArtworkKind, 13).optional() });
export const CandidatesQuery = KindsQuery.extend({
  agent: z.string().max(100).optional(),
  language: z.union([z.enum(['none', 'all']), Language]).optional(),
});

export const ArtworkUpload = z.strictObject({
  kind: ArtworkKind,
  file: uploaded,
  language: Language.optional(),
  select: z.boolean().default(true),
});

export const PortraitUpload = z.strictObject({ file: uploaded, select: z.boolean().default(true) });

const Address = z
  .string()
  .max(2000)
  .refine((text) => /^https?:/i.test(text) && URL.canParse(text), {
    error: 'http or https',
    params: { code: 'bad_url' },
  })
  .meta({ example: 'https://pictures.example/poster.jpg' });

export const ArtworkImport = z
  .strictObject({
    kind: ArtworkKind,
    candidateId: z.string().max(200).optional(),
    url: Address.optional(),
    language: Language.optional(),
    select: z.boolean().default(true),
  })
  .refine(({ candidateId, url }) => (candidateId === undefined) !== (url === undefined), {
    error: 'a candidate or an address, exactly one',
    params: { code: 'exactly_one' },
  })
  .meta({ example: { kind: 'poster', url: 'https://pictures.example/poster.jpg' } });

export const ArtworkCapture = z.strictObject({
  positionMs: z.int().min(0).optional().describe('Absent for books and comics, of which the first page is taken'),
  fileId: Id.optional(),
  kind: z.enum(['thumb', 'backdrop', 'still', 'poster']).optional(),
  preview: z.boolean().default(false).describe('Keeps nothing but an image of 10 minutes'),
  select: z.boolean().default(true),
});
export type ArtworkCapture = z.output<typeof ArtworkCapture>;

export const ArtworkChoice = z.strictObject({
  imageIds: z.array(Id).max(MOST_BACKDROPS),
  lock: z.boolean().default(true),
});

export const DiscardQuery = z.object({ discard: queryBool.default(false) });

const Part = z
  .strictObject({ x: fraction, y: fraction, width: z.number().gt(0).max(1), height: z.number().gt(0).max(1) })
  .refine(({ x, y, width, height }) => x + width <= 1.000_001 && y + height <= 1.000_001, {
    error: 'the part is outside the picture',
    params: { code: 'outside' },
  })
  .meta({ example: { x: 0, y: 0, width: 0.5, height: 1 } });

export const ImageChange = z.strictObject({
  focus: Point.nullable().optional(),
  language: Language.nullable().optional(),
  rotate: z
    .union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)])
    .nullable()
    .optional(),
  crop: Part.nullable().optional(),
});
export type ImageChange = z.output<typeof ImageChange>;

export const PortraitQuery = z.object({ candidates: queryBool.default(false) });

export const Portraits = z.object({
  selected: Image.optional(),
  locked: z.boolean(),
  images: z.array(Image).max(50),
  candidates: z.array(ArtworkCandidate).optional(),
  faces: z.array(z.object({ faceId: Id, preview: ImageRef })).optional(),
});

const chooses = ['imageId', 'candidateId', 'url', 'faceId', 'none'] as const;
export const PortraitChoice = z
  .strictObject({
    imageId: Id.optional(),
    candidateId: z.string().max(200).optional(),
    url: Address.optional(),
    faceId: Id.optional(),
    none: z.literal(true).optional(),
    lock: z.boolean().default(true),
  })
  .refine((choice) => chooses.filter((name) => choice[name] !== undefined).length === 1, {
    error: `exactly one of ${chooses.join(', ')}`,
    params: { code: 'exactly_one' },
  })
  .meta({ example: { none: true } });
export type PortraitChoice = z.output<typeof PortraitChoice>;
