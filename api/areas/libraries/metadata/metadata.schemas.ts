import { z } from 'zod';
import { Id, queryBool, Timestamp } from '#kernel/schemas.ts';
import { type CatalogueKeyName, catalogueKeyNames } from '#platform/catalogue-keys.ts';
import { LibraryType } from '../libraries.schemas.ts';

export const MetadataAgent = z
  .object({
    id: z.string().describe('As named in `settings.agents` of a library').meta({ example: 'tmdb' }),
    name: z.string().meta({ example: 'The Movie Database' }),
    source: z.enum(['built-in', 'plugin']),
    pluginId: z.string().optional(),
    itemTypes: z
      .array(z.string())
      .describe('Types of items that it describes')
      .meta({ example: ['movie', 'show'] }),
    offers: z.array(z.enum(['identify', 'metadata', 'artwork', 'people', 'ratings', 'missing-children'])),
    available: z.boolean(),
    unavailableReason: z.enum(['missing-key', 'disabled', 'unreachable', 'rate-limited']).optional(),
    keys: z.array(
      z.object({
        name: z.string().meta({ example: 'tmdb.apiKey' }),
        env: z
          .string()
          .describe('Environment variable that it otherwise comes from')
          .meta({ example: 'FOYER_TMDB_API_KEY' }),
        optional: z.boolean(),
      }),
    ),
    offline: z.boolean().describe('Needs no network'),
    homepage: z.string().optional().meta({ example: 'https://www.themoviedb.org/' }),
  })
  .meta({ id: 'MetadataAgent' });
export type MetadataAgent = z.output<typeof MetadataAgent>;

export const MetadataAgents = z.object({
  items: z.array(MetadataAgent),
  defaults: z
    .record(z.string(), z.array(z.string()))
    .describe('Agents of a new library by its type, in order')
    .meta({ example: { movies: ['nfo', 'files', 'spine', 'wikidata'] } }),
});

export const AgentsQuery = z.object({
  libraryType: LibraryType.optional().describe('Only agents that describe items of such a library'),
});

export const CatalogueKey = z
  .object({
    name: z.string().meta({ example: 'tmdb.apiKey' }),
    agent: z.string().meta({ example: 'tmdb' }),
    env: z
      .string()
      .describe('Environment variable that it otherwise comes from')
      .meta({ example: 'FOYER_TMDB_API_KEY' }),
    secret: z.boolean(),
    source: z.enum(['app', 'environment', 'missing']).describe('Source of the key in force'),
    value: z.string().optional().describe('Of a key that is no secret, such as a user name'),
    savedAt: Timestamp.optional(),
    savedBy: Id.optional(),
    overridden: z.boolean().describe('Both a saved key and one of the environment are present'),
    refusedAt: Timestamp.optional().describe('When the catalogue last refused the key in force'),
  })
  .meta({ id: 'CatalogueKey' });
export type CatalogueKey = z.output<typeof CatalogueKey>;

export const CatalogueKeys = z.object({ items: z.array(CatalogueKey) });

const KeyText = z.string().trim().min(1).max(500).nullable().optional();

export const NewCatalogueKeys = z
  .strictObject(
    Object.fromEntries(catalogueKeyNames.map((name) => [name, KeyText])) as Record<CatalogueKeyName, typeof KeyText>,
  )
  .refine((keys) => Object.keys(keys).length > 0, { error: 'at least one key', params: { code: 'invalid_size' } })
  .describe('By name; null removes the saved key')
  .meta({ example: { 'tmdb.apiKey': '0123456789abcdef0123456789abcdef' } });

export const KeysQuery = z.object({
  check: queryBool.default(false).describe('Query each agent once with its keys'),
});

export const SavedCatalogueKeys = CatalogueKeys.extend({
  checks: z
    .array(
      z.object({
        name: z.string().meta({ example: 'tmdb.apiKey' }),
        ok: z.boolean(),
        reason: z.enum(['refused', 'unreachable', 'rate-limited']).optional(),
      }),
    )
    .optional()
    .describe('With `check`'),
});
