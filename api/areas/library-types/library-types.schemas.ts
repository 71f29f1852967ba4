import { z } from 'zod';
import { agentIds } from '#areas/libraries/public.ts';
import { Id, ManagedBy, Timestamp } from '#kernel/schemas.ts';
import { bases } from './bases.ts';
import { places } from './naming/rules.ts';

const KEY = /^custom:[a-z0-9-]{1,30}$/;

const isPlain = (text: string): boolean => !/[\n\r]/.test(text);
const Line = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(isPlain, { error: 'one line', params: { code: 'control_character' } });

export const TypeKey = z
  .string()
  .regex(/^(?:movies|shows|videos|music|photos|books|comics|games|courses|files|custom:[a-z0-9-]{1,30})$/)
  .meta({ id: 'LibraryTypeKey', description: 'A built-in type, or custom: and 1-30 of a-z, 0-9 and hyphen' });
export const TypeParams = z.object({ key: z.string().max(100).meta({ example: 'custom:concerts' }) });

export const TypesQuery = z.object({ source: z.enum(['built-in', 'own']).optional() });

export const TypeLevel = z
  .strictObject({
    itemType: z
      .string()
      .regex(/^[a-z-]{1,30}$|^custom:[a-z0-9-]{1,30}$/)
      .describe('An item type of the base, or custom:<key>')
      .meta({ example: 'custom:concert' }),
    name: Line(40).meta({ example: 'Concert' }),
    plural: Line(40).meta({ example: 'Concerts' }),
    role: z.enum(['container', 'playable', 'readable', 'viewable', 'file']),
    poster: z.enum(['portrait', 'square', 'landscape']),
    numbered: z.boolean(),
    from: z.enum(['folder', 'file', 'pattern']),
  })
  .meta({ id: 'TypeLevel' });
export type TypeLevel = z.output<typeof TypeLevel>;

/** A level in answers, with the built-in item type behind it. */
const ShownLevel = TypeLevel.extend({
  baseType: z.string().describe('Item type of the base that it is drawn and played like').meta({ example: 'movie' }),
}).meta({ id: 'ShownTypeLevel' });

const sidecars = ['subtitle', 'artwork', 'nfo', 'lyrics'] as const;

export const FileRules = z
  .strictObject({
    extensions: z
      .array(z.string().regex(/^[a-z0-9+]{1,12}$/))
      .max(60)
      .describe("Of the server's list for the base; empty is the whole list")
      .meta({ example: ['mkv', 'mp4'] }),
    sidecars: z.array(z.enum(sidecars)).max(4),
    ignore: z
      .array(z.string().min(1).max(200))
      .max(50)
      .describe('Globs')
      .meta({ example: ['*.sample.*'] }),
    minBytes: z.int().min(0).optional(),
    minDurationMs: z.int().min(0).optional(),
    versions: z.boolean().describe('Several files of one name are one item'),
    parts: z.boolean().describe('Files numbered as parts are one item'),
  })
  .meta({ id: 'FileRules' });
export type FileRules = z.output<typeof FileRules>;

export const NamingRule = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .max(200)
      .describe(
        'Template of literals, {title}, {year}, {index} (number of the item), {index2} (number of its season, disc or section), {parent}, {grandparent}, {date}, {edition}, {part}, {language}, {custom.<key>}, {*}, optional stretches in [ ], and / between folders; a backslash makes the next sign a literal',
      )
      .meta({ example: '{parent}/{date} {title}[ ({edition})]' }),
    sample: z.string().min(1).max(300).meta({ example: 'Portishead/1997-07-24 Roseland NYC' }),
    on: z.enum(places).describe('What it is compared with: the path, the name, or the folder that holds the file'),
  })
  .meta({ id: 'NamingRule' });
export type NamingRule = z.output<typeof NamingRule>;

const FieldName = z.string().max(60).meta({ example: 'title' });

export const TypeViews = z
  .strictObject({
    defaultSort: z
      .string()
      .max(80)
      .regex(/^-?[A-Za-z]{1,40}$/)
      .meta({ example: 'title' }),
    sorts: z
      .array(z.string().max(40))
      .min(1)
      .max(12)
      .meta({ example: ['title', 'addedAt'] }),
    groupBy: z.string().max(60).optional().describe('A filter field').meta({ example: 'year' }),
    layout: z.enum(['posters', 'squares', 'landscape', 'list', 'photos']),
    columns: z.array(FieldName).min(1).max(12).describe('Of the list view'),
    childOrder: z.enum(['index', 'title', 'releasedOn', 'addedAt']),
    resume: z.boolean().describe('Keeps positions'),
    reading: z.enum(['ltr', 'rtl', 'vertical']),
  })
  .meta({ id: 'TypeViews' });
export type TypeViews = z.output<typeof TypeViews>;

export const Analyses = z
  .strictObject({
    previewThumbnails: z.boolean(),
    introDetection: z.boolean(),
    creditsDetection: z.boolean(),
    voiceActivity: z.boolean(),
    sonic: z.boolean(),
  })
  .meta({ id: 'TypeAnalyses' });
export type Analyses = z.output<typeof Analyses>;

const Agent = z.enum(agentIds);
const FieldKey = z.string().regex(/^[a-z0-9_]{1,40}$/);

const described = {
  name: Line(40).meta({ example: 'Concerts' }),
  plural: Line(40).meta({ example: 'Concerts' }),
  description: z.string().trim().max(300).optional(),
  iconId: Id.optional(),
};
const ruled = {
  levels: z.array(TypeLevel).min(1).max(3),
  files: FileRules,
  naming: z.array(NamingRule).min(1).max(20).describe('The first that fits wins'),
  agents: z
    .array(Agent)
    .max(50)
    .describe('Default order')
    .meta({ example: ['nfo', 'files'] }),
  fieldKeys: z
    .array(FieldKey)
    .max(60)
    .describe('Custom fields that are shown, in order')
    .meta({ example: ['venue'] }),
  analyses: Analyses,
  views: TypeViews,
};

export const Tried = z
  .object({
    path: z.string().meta({ example: 'Portishead/1997-07-24 Roseland NYC.mkv' }),
    rule: z.int().optional().describe('Number of the rule that fits; absent when names are read as in the base'),
    itemType: z.string().optional().describe('Absent for a file that the type passes over').meta({ example: 'movie' }),
    fields: z.record(z.string(), z.union([z.string(), z.number()])).meta({ example: { title: 'Roseland NYC' } }),
  })
  .meta({ id: 'TriedName' });
export type Tried = z.output<typeof Tried>;

export const LibraryType = z
  .object({
    key: TypeKey.meta({ example: 'custom:concerts' }),
    source: z.enum(['built-in', 'own']),
    name: z.string().meta({ example: 'Concerts' }),
    plural: z.string().meta({ example: 'Concerts' }),
    description: z.string().optional(),
    iconId: Id.optional(),
    base: z.enum(bases),
    levels: z.array(ShownLevel),
    views: TypeViews,
    files: FileRules.optional().describe('This and what follows with library:manage'),
    naming: z.array(NamingRule).optional(),
    agents: z
      .array(z.string())
      .optional()
      .meta({ example: ['nfo'] }),
    fieldKeys: z
      .array(z.string())
      .optional()
      .meta({ example: ['venue'] }),
    analyses: Analyses.optional(),
    libraryCount: z.int().optional(),
    itemCount: z.int().optional(),
    managedBy: ManagedBy.optional(),
    revision: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'LibraryType' });
export type LibraryType = z.output<typeof LibraryType>;

const triedList = z.array(Tried).optional().describe('With tryNames');
export const CreatedType = LibraryType.extend({ tried: triedList }).meta({ id: 'CreatedLibraryType' });
export const ChangedType = LibraryType.extend({
  tried: triedList,
  affected: z.object({
    libraries: z.int(),
    items: z.int(),
    rescan: z.boolean().describe('The next full scan reads all names of these libraries again'),
  }),
}).meta({ id: 'ChangedLibraryType' });

export const LibraryTypes = z.object({ items: z.array(LibraryType) });

const trying = {
  tryNames: z
    .array(z.string().min(1).max(500))
    .max(200)
    .default([])
    .describe('Paths inside a library folder; no file is read')
    .meta({ example: ['Portishead/1997-07-24 Roseland NYC.mkv'] }),
  validateOnly: z.boolean().default(false).describe('200 with what would be; nothing is stored'),
};

const given = {
  ...Object.fromEntries(Object.entries(ruled).map(([name, schema]) => [name, schema.optional()])),
} as { [K in keyof typeof ruled]: z.ZodOptional<(typeof ruled)[K]> };

export const TypeDraft = z.strictObject({
  key: z.string().regex(KEY).describe('custom:<key>, fixed').meta({ example: 'custom:concerts' }),
  name: described.name,
  plural: described.plural.optional().describe('The name when absent'),
  description: described.description,
  iconId: described.iconId,
  base: z.enum(bases).optional().describe('That of copyOf when absent').meta({ example: 'movies' }),
  ...given,
  copyOf: TypeKey.optional().describe('Type whose rules stand for absent ones').meta({ example: 'movies' }),
  ...trying,
  managedBy: ManagedBy.optional().describe("The operator's key only"),
});
export type TypeDraft = z.output<typeof TypeDraft>;

export const TypeChange = z.strictObject({
  revision: z.int().optional(),
  name: described.name.optional(),
  plural: described.plural.optional(),
  description: z.string().trim().max(300).nullable().optional(),
  iconId: Id.nullable().optional(),
  ...given,
  ...trying,
});
export type TypeChange = z.output<typeof TypeChange>;
