import { z } from 'zod';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Bytes, commaList, Id, IdParams, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';

const states = [
  'receiving',
  'verifying',
  'importing',
  'finished',
  'duplicate',
  'failed',
  'cancelled',
  'expired',
] as const;
export const UploadState = z.enum(states).meta({ id: 'UploadState' });

export const UploadError = z
  .enum([
    'checksum-mismatch',
    'not-a-photo',
    'unsupported-format',
    'too-large',
    'corrupt',
    'storage-full',
    'storage-away',
    'access-lost',
    'library-gone',
  ])
  .meta({ id: 'UploadError' });
export type UploadError = z.output<typeof UploadError>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits in lower case');

export const Upload = z
  .object({
    id: Id,
    libraryId: Id.describe('The nil UUID once the library is gone'),
    state: UploadState,
    name: z.string().meta({ example: 'IMG_0001.jpg' }),
    sizeBytes: Bytes,
    mime: z.string().optional().describe('By the content, once it was read'),
    chunkBytes: z.int().describe('Size of each chunk but the last'),
    chunkCount: z.int(),
    received: z
      .array(z.tuple([z.int(), z.int()]))
      .describe('Ranges of the chunks that are stored, as their first and last index'),
    receivedBytes: Bytes,
    sha256: z.string().optional(),
    takenAt: Timestamp.optional(),
    pairKey: z.string().optional(),
    albumId: Id.optional(),
    itemId: Id.optional().describe('When finished or duplicate'),
    duplicateOf: Id.optional().describe('Another upload with the same content that is still on its way'),
    errorReason: UploadError.optional(),
    deviceName: z.string().optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    expiresAt: Timestamp.describe('Seven days after its last change'),
  })
  .meta({ id: 'Upload' });
export type Upload = z.output<typeof Upload>;

/** The most bytes of a file name, before it is cleaned. */
const NAME = z.string().min(1).max(255);

const AnnouncedFile = z.strictObject({
  name: NAME.meta({ example: 'IMG_0001.jpg' }),
  sizeBytes: z.int().min(1),
  sha256: Sha256.optional(),
  modifiedAt: Moment.optional(),
  takenAt: Moment.optional().describe('Used when the file does not say when it was taken'),
  mime: z.string().max(100).optional(),
  pairKey: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('The same for the parts of a live photo, or a photo and its XMP'),
  clientFileId: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Identifies the file on the device, to resume without a hash'),
});
export type AnnouncedFile = z.output<typeof AnnouncedFile>;

export const CreateUploads = z.strictObject({
  libraryId: Id,
  albumId: Id.optional(),
  files: z.array(AnnouncedFile).min(1).max(200),
  checkOnly: z.boolean().default(false),
});

const Refusal = z.enum([...UploadError.options, 'bad-name', 'quota']);
export type Refusal = z.output<typeof Refusal>;

export const UploadAnswer = z
  .object({
    index: z.int().describe('Of the file in the request'),
    outcome: z.enum(['created', 'resumed', 'duplicate', 'refused']),
    upload: Upload.optional(),
    itemId: Id.optional(),
    reason: Refusal.optional(),
  })
  .meta({ id: 'UploadAnswer' });
export type UploadAnswer = z.output<typeof UploadAnswer>;

export const UploadAnswers = z.object({ items: z.array(UploadAnswer) });

export const uploadSorts: SortTable = {
  createdAt: { column: 'u.created_at', type: 'timestamptz' },
  updatedAt: { column: 'u.updated_at', type: 'timestamptz' },
  name: { column: 'u.name', type: 'text' },
  state: { column: 'u.state', type: 'text' },
};

export const UploadsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(uploadSorts),
  ids: commaList(Id, 200).optional(),
  libraryId: Id.optional(),
  state: commaList(UploadState, states.length).optional(),
  device: queryBool.default(false).describe('Only those of the device that X-Client-Id names'),
});

export const ChunkParams = IdParams.extend({
  index: z
    .string()
    .regex(/^\d{1,5}$/, 'a number from 0')
    .transform(Number)
    .describe('From 0'),
});
