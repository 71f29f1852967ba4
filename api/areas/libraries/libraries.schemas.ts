import { z } from 'zod';
import { Role } from '#identity/permissions.ts';
import { CronText } from '#kernel/cron.ts';
import {
  Bytes,
  Country,
  Id,
  ImageRef,
  Language,
  ManagedBy,
  Milliseconds,
  RelativePath,
  Timestamp,
} from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';

export const libraryTypes = [
  'movies',
  'shows',
  'videos',
  'music',
  'photos',
  'books',
  'comics',
  'games',
  'courses',
  'livetv',
] as const;

/** Plain files are a base of own types too. */
const KNOWN: readonly string[] = [...libraryTypes, 'files'];
const OWN = /^custom:[a-z0-9-]{1,30}$/;

/** A built-in type, or the key of an owner-made one, which must exist when a library is made. */
export const LibraryType = z
  .string()
  .max(80)
  .refine((type) => KNOWN.includes(type) || OWN.test(type), {
    error: `one of ${KNOWN.join(', ')}, or custom:<key>`,
    params: { code: 'unknown_type' },
  });

/** Built-in agents. Some need a key to be available (listMetadataAgents). */
export const agentIds = [
  'nfo',
  'files',
  'spine',
  'wikidata',
  'musicbrainz',
  'coverartarchive',
  'openlibrary',
  'anilist',
  'tmdb',
  'tvdb',
  'omdb',
  'fanart',
  'comicvine',
  'igdb',
] as const;
const Agent = z
  .string()
  .max(80)
  .refine((id) => (agentIds as readonly string[]).includes(id), {
    error: 'no such metadata agent',
    params: { code: 'unknown_agent' },
  });

const Glob = z.string().min(1).max(200);

/** All settings of a library; settings.ts has the defaults of each type. */
export const LibrarySettings = z
  .strictObject({
    previewThumbnails: z.boolean(),
    introDetection: z.boolean(),
    creditsDetection: z.boolean(),
    voiceActivity: z.boolean(),
    agents: z.array(Agent).max(50).describe('Ordered agent ids'),
    language: Language.meta({ example: 'en' }),
    country: Country.nullable().meta({ example: 'GB' }),
    watch: z.enum(['auto', 'events', 'poll', 'off']),
    pollMinutes: z.int().min(1).max(1440),
    scanCron: CronText.meta({ example: '0 4 * * *' }),
    trashGraceHours: z.int().min(0).max(8760),
    trashKeepDays: z.int().min(0).max(3650).describe('0 is forever'),
    guardPercent: z.int().min(1).max(100),
    guardMinimum: z.int().min(1).max(100_000),
    preferLocal: z.boolean().describe('NFO, sidecars and embedded tags before agents'),
    saveNfo: z.boolean().describe('Writes NFO, ComicInfo.xml or XMP next to the media, never over another file'),
    saveArtwork: z.boolean().describe("Writes pictures next to the media under Kodi's names, never over another file"),
    fileDeletion: z.boolean(),
    folderView: z.boolean(),
    shareLocation: z.boolean(),
    searchTranscripts: z.boolean(),
    ignore: z.array(Glob).max(100),
    mergeVersions: z.boolean(),
    showMissingEpisodes: z.boolean(),
    onHome: z.boolean(),
    ageLimit: z
      .int()
      .min(0)
      .max(21)
      .nullable()
      .describe('Hidden from accounts whose own limit is lower')
      .meta({ example: 12 }),
  })
  .meta({ id: 'LibrarySettingsDraft' });
export type LibrarySettings = z.output<typeof LibrarySettings>;

/** Settings in responses, which need no validation. */
const StoredSettings = LibrarySettings.extend({
  agents: z
    .array(z.string())
    .describe('Ordered agent ids')
    .meta({ example: ['nfo'] }),
  language: z.string().meta({ example: 'en' }),
  country: z.string().nullable().meta({ example: 'GB' }),
  scanCron: z.string().meta({ example: '0 4 * * *' }),
  ignore: z.array(z.string()).meta({ example: ['*.partial'] }),
}).meta({ id: 'LibrarySettings' });

export const LibraryAccess = z
  .strictObject({
    everyone: z.boolean(),
    roles: z.array(Role).max(5).default([]),
    accountIds: z.array(Id).max(500).default([]),
  })
  .meta({ id: 'LibraryAccess' });
export type LibraryAccess = z.output<typeof LibraryAccess>;

export const LibraryFolder = z
  .object({
    id: Id,
    storageId: Id,
    storageName: z.string().meta({ example: 'films' }),
    state: z.enum(['available', 'unavailable', 'suspect', 'disabled']),
    itemCount: z.int(),
    addedBy: Id.nullable(),
    addedAt: Timestamp,
    path: z.string().optional().describe('Inside the storage; with library:manage').meta({ example: 'Films' }),
  })
  .meta({ id: 'LibraryFolder' });
export type LibraryFolder = z.output<typeof LibraryFolder>;

export const Library = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Films' }),
    type: z.string().meta({ example: 'movies' }),
    baseType: z
      .string()
      .optional()
      .describe('Built-in type behind an owner-made one, which it is drawn and played like'),
    icon: z.string().nullable().meta({ example: '01900000-0000-7000-8000-00000000beef' }),
    order: z.int(),
    poster: ImageRef.nullable(),
    settings: StoredSettings,
    folders: z.array(LibraryFolder),
    state: z
      .enum(['empty', 'ready', 'scanning', 'partly-unavailable', 'unavailable'])
      .describe('Computed, never stored')
      .meta({ example: 'ready' }),
    itemCounts: z.record(z.string(), z.int()).describe('By item type'),
    sizeBytes: Bytes.meta({ example: 4294967296 }),
    durationMs: Milliseconds.meta({ example: 5640000 }),
    missingCount: z.int(),
    lastScan: z
      .object({
        id: Id,
        state: z.string().meta({ example: 'ready' }),
        finishedAt: Timestamp.nullable(),
        added: z.int(),
        updated: z.int(),
        missing: z.int(),
      })
      .nullable(),
    may: z
      .object({ upload: z.boolean(), edit: z.boolean(), scan: z.boolean(), manage: z.boolean() })
      .describe('What the caller may do here'),
    access: LibraryAccess.optional().describe('With library:manage'),
    trashCount: z.int().optional().describe('With library:manage'),
    managedBy: ManagedBy.nullable().meta({ example: null }),
    managedFields: z.array(z.string()).optional().describe('With library:manage'),
    revision: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Library' });
export type Library = z.output<typeof Library>;

const Name = z.string().trim().min(1).max(80);
const NewFolder = z.strictObject({
  storageId: Id,
  path: RelativePath.meta({ example: 'Films' }),
});
export type NewFolder = z.output<typeof NewFolder>;

export const LibraryDraft = z.strictObject({
  name: Name.meta({ example: 'Films' }),
  type: LibraryType.meta({ example: 'movies' }),
  icon: z.string().max(100).nullable().optional().describe('Id of an icon'),
  folders: z.array(NewFolder).max(100).default([]),
  settings: LibrarySettings.partial().default({}),
  access: LibraryAccess.default({ everyone: true, roles: [], accountIds: [] }),
  order: z.int().min(0).max(10_000).optional(),
  managedBy: ManagedBy.optional().describe("The operator's key only"),
  managedFields: z.array(z.string().max(60)).max(60).optional().describe("The operator's key only"),
});
export type LibraryDraft = z.output<typeof LibraryDraft>;

const nullableSettings = Object.fromEntries(
  Object.entries(LibrarySettings.shape).map(([key, schema]) => [key, (schema as z.ZodType).nullable().optional()]),
);

export const LibraryChange = z.strictObject({
  name: Name.optional().meta({ example: 'Films' }),
  type: z.string().max(80).optional().describe('Any other value is 409 type-fixed').meta({ example: 'movies' }),
  icon: z.string().max(100).nullable().optional().describe('Id of an icon'),
  folders: z
    .array(z.union([z.strictObject({ id: Id }), NewFolder]))
    .max(100)
    .optional()
    .describe('The whole list'),
  settings: z.strictObject(nullableSettings).optional().describe('Merged key by key; null returns to the default'),
  access: LibraryAccess.optional(),
  order: z.int().min(0).max(10_000).optional(),
  posterImageId: Id.nullable().optional().describe('null is the mosaic'),
  poster: uploaded.optional().describe('A picture, as a part of multipart/form-data'),
  confirmRemoval: z.boolean().default(false),
  managedBy: ManagedBy.nullable().optional().describe("The operator's key only; null removes the owner"),
  managedFields: z.array(z.string().max(60)).max(60).optional().describe("The operator's key only"),
});
export type LibraryChange = z.output<typeof LibraryChange>;

export const LibraryOrder = z.strictObject({
  ids: z
    .array(Id)
    .min(1)
    .max(500)
    .refine((ids) => new Set(ids).size === ids.length, { error: 'an id appears twice', params: { code: 'duplicate' } }),
});

export const NewFolders = z.strictObject({ folders: z.array(NewFolder).min(1).max(20) });

export const LibraryListQuery = z.object({
  type: LibraryType.optional(),
  for: z.enum(['view', 'upload', 'edit']).default('view'),
});
