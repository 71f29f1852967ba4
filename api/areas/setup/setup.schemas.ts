import { z } from 'zod';
import { LibraryDraft, LibrarySettings, libraryTypes } from '#areas/libraries/public.ts';
import { Bytes, Country, Id, Language, RelativePath, Timestamp } from '#kernel/schemas.ts';

const TimeZone = z
  .string()
  .max(60)
  .refine((zone) => Intl.supportedValuesOf('timeZone').includes(zone) || zone === 'UTC', {
    error: 'an IANA time zone',
    params: { code: 'unknown_time_zone' },
  });

const DraftLibrary = z.strictObject({
  name: LibraryDraft.shape.name,
  type: LibraryDraft.shape.type,
  folders: z
    .array(
      z.strictObject({
        rootId: Id,
        path: RelativePath.meta({ example: 'Films' }),
      }),
    )
    .max(100),
  language: Language.optional().meta({ example: 'en' }),
  agents: LibrarySettings.shape.agents.optional(),
});

export const SetupDraft = z
  .strictObject({
    revision: z.int().min(0).describe('Revision of the draft that was read'),
    serverName: z.string().trim().min(1).max(60).optional().meta({ example: 'Home' }),
    language: Language.optional().meta({ example: 'en' }),
    country: Country.optional().meta({ example: 'GB' }),
    timeZone: TimeZone.optional().meta({ example: 'Europe/London' }),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .max(300)
      .optional()
      .meta({ example: 'https://media.example' }),
    settings: z
      .strictObject({
        'network.offline': z.boolean().optional(),
        'metadata.language': Language.optional(),
        'subtitles.model': z.string().max(60).optional(),
        'transcode.hardware': z.enum(['auto', 'nvenc', 'qsv', 'vaapi', 'off']).optional(),
        'playback.watchedPercent': z.int().min(50).max(99).optional(),
      })
      .optional(),
    libraries: z.array(DraftLibrary).max(50).default([]),
  })
  .meta({ id: 'SetupDraft' });
export type SetupDraft = z.output<typeof SetupDraft>;

export const SetupRoot = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Films' }),
    kind: z.enum(['mount', 's3']),
    readable: z.boolean(),
    writable: z.boolean(),
    freeBytes: Bytes.optional().meta({ example: 1099511627776 }),
    sizeBytes: Bytes.optional().meta({ example: 4294967296 }),
  })
  .meta({ id: 'SetupRoot' });

export const SetupState = z
  .object({
    step: z.enum(['claim', 'server', 'libraries', 'checks', 'owner']).describe('The first part that is still missing'),
    claimed: z.boolean().describe('By this caller'),
    serverName: z.string().meta({ example: 'Home' }),
    version: z.string().optional().meta({ example: '0.1.0' }),
    languages: z.array(Language).meta({ example: ['en'] }),
    draft: SetupDraft.optional(),
    managed: z
      .array(z.string())
      .optional()
      .describe('Names that a resource declares: keys of settings, and libraries as `libraries.<name>`')
      .meta({ example: ['serverName'] }),
    roots: z.array(SetupRoot).optional(),
    types: z.array(z.enum(libraryTypes)).optional(),
    savedAt: Timestamp.nullable().optional(),
  })
  .meta({ id: 'SetupState' });
export type SetupState = z.output<typeof SetupState>;

const fileKinds = ['video', 'audio', 'image', 'book', 'comic', 'game', 'other'] as const;
export const SetupFolder = z
  .object({
    rootId: Id,
    path: z.string().meta({ example: 'Films' }),
    name: z.string().meta({ example: 'Films' }),
    folders: z.int(),
    files: z.object(
      Object.fromEntries(fileKinds.map((kind) => [kind, z.int()])) as Record<(typeof fileKinds)[number], z.ZodInt>,
    ),
    suggestedType: z.enum(libraryTypes).optional(),
    confidence: z.number().min(0).max(1),
  })
  .meta({ id: 'SetupFolder' });
export type SetupFolder = z.output<typeof SetupFolder>;
export type FileKind = (typeof fileKinds)[number];

export const SetupFolders = z.object({ folder: SetupFolder, items: z.array(SetupFolder), truncated: z.boolean() });
export const FoldersQuery = z.object({
  rootId: Id,
  path: RelativePath.default('').meta({ example: 'Films' }),
});

export const checkIds = [
  'database',
  'redis',
  'objects',
  'workers',
  'ffmpeg',
  'encoders',
  'gpu',
  'speech-model',
  'storage',
  'clock',
  'address',
  'catalogues',
] as const;
export type CheckId = (typeof checkIds)[number];

export const SetupCheck = z
  .object({
    id: z.enum(checkIds),
    state: z.enum(['ok', 'warning', 'failed', 'skipped']),
    summary: z.string().meta({ example: 'All is well' }),
    hint: z.string().optional().meta({ example: 'foyer_9f' }),
    tookMs: z.int(),
  })
  .meta({ id: 'SetupCheck' });
export type SetupCheck = z.output<typeof SetupCheck>;

export const RunChecks = z.strictObject({ checks: z.array(z.enum(checkIds)).min(1).max(12).optional() });
export const ChecksRun = z.object({ items: z.array(SetupCheck), canComplete: z.boolean() });

export const CompleteSetup = z.strictObject({
  username: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^[\p{L}\p{N}._@-]+( [\p{L}\p{N}._@-]+)*$/u)
    .meta({ example: 'ada' }),
  password: z.string().min(8).max(256).meta({ example: 'correct horse battery staple' }),
  displayName: z.string().trim().min(1).max(60).optional().meta({ example: 'Ada' }),
  email: z.email().max(254).optional(),
  draft: SetupDraft.optional().describe('Absent is the saved one'),
  keep: z.enum(['both', 'cookie', 'token']).default('both'),
  remember: z.boolean().default(true),
});
export type CompleteSetup = z.output<typeof CompleteSetup>;
