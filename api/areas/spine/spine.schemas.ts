import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { Job } from '#areas/jobs/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { Bytes, commaList, Id, Language, queryInt, RelativePath, Timestamp } from '#kernel/schemas.ts';
import { stored } from '#kernel/stored-uploads.ts';
import { sourceNames } from '#platform/spine/manifest.ts';
import { workKinds } from '#platform/spine/work.ts';

const Version = z.string().describe('YYYY.MM.n').meta({ example: '2026.11.1' });
const Sha256 = z.string().meta({ example: 'a'.repeat(64) });
const WorkKind = z.enum(workKinds);
const Text = z.string().meta({ example: 'Metropolis' });

export const SpinePack = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'films' }),
    version: Version,
    kinds: z.array(z.enum(['film', 'show', 'music', 'book'])),
    languages: z.array(z.string()).meta({ example: ['en', 'de'] }),
    works: z.int().min(0).meta({ example: 250_000 }),
    sizeBytes: Bytes.describe('Of the file').meta({ example: 90_000_000 }),
    signedBy: z.object({
      keyId: z.string().meta({ example: '0f3a5b7c9d1e2f40' }),
      name: z.string().meta({ example: 'Foyer' }),
    }),
    builtAt: Timestamp,
    sources: z.array(
      z.object({
        name: z.enum(sourceNames),
        dumpedOn: z.iso.date(),
        licence: z.string().meta({ example: 'CC0-1.0' }),
      }),
    ),
    sha256: Sha256.describe('Of the head of the file, which names the hash of every block'),
    importedAt: Timestamp.optional().describe('Absent until it is loaded'),
    importedBy: Id.optional(),
  })
  .meta({ id: 'SpinePack' });
export type SpinePack = z.output<typeof SpinePack>;

export const counted = ['movie', 'show', 'episode', 'artist', 'album', 'track', 'book', 'person'] as const;

export const SpineStatus = z
  .object({
    installed: z.boolean(),
    packs: z.array(SpinePack),
    works: z.object(
      Object.fromEntries(counted.map((kind) => [kind, z.int().min(0)])) as Record<(typeof counted)[number], z.ZodInt>,
    ),
    sizeBytes: Bytes.describe('In the database'),
    coverage: z
      .array(
        z.object({
          libraryId: Id,
          name: z.string().meta({ example: 'Films' }),
          items: z.int().min(0),
          identified: z.int().min(0),
          percent: z.number().min(0).max(100).meta({ example: 97.5 }),
        }),
      )
      .optional()
      .describe('With `library:manage`; at most an hour old'),
    importing: z
      .object({
        jobId: Id,
        progress: z.number().min(0).max(1),
        phase: z.enum(['fetching', 'verifying', 'loading', 'indexing', 'switching']),
      })
      .optional(),
    available: z
      .object({ version: Version, sizeBytes: Bytes, delta: z.boolean(), publishedAt: Timestamp })
      .optional()
      .describe('A newer pack, as the last check found it'),
    lastCheckAt: Timestamp.optional(),
    source: z
      .object({ url: z.string().meta({ example: 'https://packs.example/list.json' }), auto: z.boolean() })
      .optional(),
    trustedKeys: z
      .array(
        z.object({
          id: z.string().meta({ example: '0f3a5b7c9d1e2f40' }),
          name: z.string().meta({ example: 'Foyer' }),
          addedAt: Timestamp,
        }),
      )
      .optional(),
  })
  .meta({ id: 'SpineStatus' });
export type SpineStatus = z.output<typeof SpineStatus>;

export const PackImport = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:' && new URL(text).username === '', {
        error: 'not such an address',
        params: { code: 'invalid_url' },
      })
      .optional()
      .meta({ example: 'https://packs.example/films-2026.11.1.foyerspine' }),
    storageId: Id.optional().describe('With `path`, a file on a storage'),
    path: RelativePath.optional().meta({ example: 'packs/films.foyerspine' }),
    current: z.literal(true).optional().describe('The pack that `available` of getSpine names'),
    remove: Id.optional().describe('A loaded pack, to drop it'),
    file: stored.optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('Of the head of the pack, as `foyer spine build` prints it'),
    dryRun: z.boolean().default(false),
  })
  .meta({ example: { url: 'https://packs.example/films-2026.11.1.foyerspine' } });
export type PackImport = z.output<typeof PackImport>;

export const ImportedPack = z.object({
  pack: SpinePack,
  job: Job.optional().describe('Absent with `dryRun`'),
  willAdd: z.int().min(0).describe('Works of the pack; of a removal 0'),
  willReplace: z.int().min(0).describe('Works of the version that is replaced or removed'),
  freeBytesNeeded: Bytes,
});
export type ImportedPack = z.output<typeof ImportedPack>;

const ids = z.record(z.string(), z.string());

export const SpineWork = z
  .object({
    kind: WorkKind,
    ids: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .meta({ example: { wikidata: 'Q151599', imdb: 'tt0017136' } }),
    title: Text,
    originalTitle: Text.optional(),
    aliases: z.array(z.object({ title: Text, language: z.string().optional().meta({ example: 'de' }) })).max(50),
    year: z.int().optional().meta({ example: 1927 }),
    releasedOn: z.string().optional().meta({ example: '1927-01-10' }),
    runtimeMs: z.int().optional().meta({ example: 9_180_000 }),
    countries: z.array(z.string()).meta({ example: ['DE'] }),
    languages: z.array(z.string()).meta({ example: ['de'] }),
    genres: z.array(z.string()).meta({ example: ['science fiction'] }),
    creators: z.array(
      z.object({
        name: z.string().meta({ example: 'Fritz Lang' }),
        role: z.string().meta({ example: 'director' }),
        ids,
      }),
    ),
    parent: z
      .object({ kind: WorkKind, ids: z.record(z.string(), z.unknown()), title: Text, index: z.int().optional() })
      .optional(),
    series: z.object({ title: Text, index: z.string().optional() }).optional(),
    description: z.string().optional().meta({ example: 'A film of 1927 by Fritz Lang.' }),
    imageHint: z.string().optional().describe('File name at Wikimedia Commons').meta({ example: 'Metropolis.jpg' }),
    links: z.record(z.string(), z.string()).meta({ example: { article: 'https://en.wikipedia.org/wiki/Metropolis' } }),
    score: z.number().min(0).max(1).optional(),
    matchedBy: z.enum(['id', 'title-year', 'title', 'alias', 'isbn', 'path']).optional(),
    pack: Id,
    localItems: z.array(ItemSummary).optional().describe('Items that the caller sees; with `include`'),
  })
  .meta({ id: 'SpineWork' });
export type SpineWork = z.output<typeof SpineWork>;

const SchemeValue = z
  .string()
  .max(120)
  .regex(/^[A-Za-z]{2,40}:[\w.-]{1,64}$/)
  .meta({ example: 'imdb:tt0017136' });
const words = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    });

export const workSorts = ['score', 'year', 'title', 'index'] as const;

export const LookupQuery = z.object({
  ...pageQuery,
  sort: sortQuery(workSorts),
  id: SchemeValue.optional().describe('`scheme:value`'),
  q: words(200).optional().describe('A title or an alias').meta({ example: 'metropolis' }),
  parentId: SchemeValue.optional()
    .describe('For its seasons, episodes, albums or tracks')
    .meta({ example: 'wikidata:Q1079' }),
  kind: WorkKind.optional(),
  year: queryInt(1, 2200).optional().describe('With `q`; a year off by one counts'),
  creator: words(200).optional().describe('With `q`').meta({ example: 'Fritz Lang' }),
  language: Language.optional().describe('Of the title that is shown, where an alias has it'),
  include: commaList(z.enum(['localItems']), 1).optional(),
});
export type LookupQuery = z.output<typeof LookupQuery>;
