import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { Country, Id, ImageRef, queryInt } from '#kernel/schemas.ts';

export const StudioKind = z.enum(['studio', 'network', 'label', 'publisher', 'developer', 'institution']);

export const Studio = z
  .object({
    id: Id,
    libraryId: Id,
    name: z.string().meta({ example: 'Prana-Film' }),
    sortName: z.string().meta({ example: 'Prana-Film' }),
    kind: StudioKind,
    logo: ImageRef.optional(),
    country: Country.optional().meta({ example: 'DE' }),
    itemCount: z.int().min(1).describe('Visible items; a show is one').meta({ example: 12 }),
  })
  .meta({ id: 'Studio' });
export type Studio = z.output<typeof Studio>;

const Named = z.object({ id: Id, name: z.string().meta({ example: 'Prana-Film' }) });

export const StudioDetail = Studio.extend({
  description: z.string().optional().meta({ example: 'A film company of Berlin.' }),
  headquarters: z.string().optional().meta({ example: 'Berlin' }),
  homepage: z.string().optional().meta({ example: 'https://studio.example/' }),
  externalIds: z.record(z.string(), z.string()).meta({ example: { tmdb: '3045' } }),
  parent: Named.optional(),
  subsidiaries: z.array(Named).max(50),
  elsewhere: z
    .array(z.object({ studioId: Id, libraryId: Id, itemCount: z.int().min(1).meta({ example: 3 }) }))
    .describe('The same company in other libraries that the caller may see'),
  genres: z
    .array(z.object({ name: z.string().meta({ example: 'Horror' }), count: z.int().min(1).meta({ example: 4 }) }))
    .max(10),
  years: z
    .object({ from: z.int().optional().meta({ example: 1921 }), to: z.int().optional().meta({ example: 1922 }) })
    .describe('Of the visible items'),
  topItems: z.array(ItemSummary).max(12),
}).meta({ id: 'StudioDetail' });
export type StudioDetail = z.output<typeof StudioDetail>;

export const studioSorts = ['sortName', 'itemCount', 'random'] as const;

export const StudiosQuery = z.object({
  ...pageQuery,
  sort: sortQuery(studioSorts),
  q: z
    .string()
    .min(1)
    .max(100)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    })
    .optional()
    .describe('By the start of words, and alike')
    .meta({ example: 'prana' }),
  kind: StudioKind.optional(),
  minItems: queryInt(1, 1000).default(1).describe('Visible items, at least'),
});
export type StudiosQuery = z.output<typeof StudiosQuery>;
