import { z } from 'zod';
import { CustomValue } from '#areas/custom-fields/public.ts';
import { ItemDetail, ItemSummary, PersonRole } from '#areas/items/public.ts';
import { Day, Id, Language, Milliseconds, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';

/** One line of text without control characters. */
export const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), {
      error: 'no control characters',
      params: { code: 'control_character' },
    });
const prose = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    });
export const names = (most: number) => z.array(line(200)).max(most);
const webAddress = z.url({ protocol: /^https?$/ }).max(2000);

export const CreditEdit = z
  .strictObject({
    personId: Id.optional().describe('A known person; otherwise `name` finds or creates one'),
    name: line(200).optional().meta({ example: 'Max Schreck' }),
    role: PersonRole,
    character: line(200).optional().meta({ example: 'Count Orlok' }),
    job: line(200).optional().meta({ example: 'Director' }),
  })
  .refine(({ personId, name }) => (personId === undefined) !== (name === undefined), {
    error: 'either personId or name',
    params: { code: 'exactly_one' },
  });

const ChapterEdit = z.strictObject({
  title: z.string().max(500).meta({ example: 'The castle' }),
  startMs: Milliseconds,
});

const provider = z.string().regex(/^[a-zA-Z][a-zA-Z0-9]{1,39}$/);

/** What a bulk edit may set. */
export const plainEdits = {
  title: line(500).nullish().meta({ example: 'Nosferatu' }),
  sortTitle: line(500).nullish().meta({ example: 'nosferatu' }),
  originalTitle: line(500).nullish().meta({ example: 'Nosferatu, eine Symphonie des Grauens' }),
  overview: prose(20_000).nullish(),
  tagline: prose(500).nullish().meta({ example: 'A symphony of horror' }),
  year: z.int().min(1800).max(2200).nullish().meta({ example: 1922 }),
  releasedOn: Day.nullish().meta({ example: '1922-03-04' }),
  index: z.int().min(0).max(100_000).nullish(),
  parentIndex: z.int().min(0).max(100_000).nullish().describe('Season, disc or volume'),
  indexEnd: z.int().min(0).max(100_000).nullish(),
  airsBefore: z
    .strictObject({ season: z.int().min(0).max(100_000), episode: z.int().min(0).max(100_000).optional() })
    .nullish(),
  ageRating: line(40).nullish().meta({ example: 'PG' }),
  rating: z.number().min(0).max(10).nullish().meta({ example: 7.8 }),
  status: z.enum(['ended', 'continuing', 'upcoming']).nullish(),
  genres: names(50)
    .nullish()
    .meta({ example: ['Horror'] }),
  tags: names(200)
    .nullish()
    .meta({ example: ['silent'] }),
  labels: z.array(Id).max(50).nullish().describe('Ids of labels, the whole list'),
  studios: names(50).nullish(),
  countries: names(50)
    .nullish()
    .meta({ example: ['DE'] }),
  originalLanguage: Language.nullish().meta({ example: 'de' }),
  externalIds: z
    .record(provider, line(200).nullable())
    .refine((ids) => Object.keys(ids).length <= 30, { error: 'at most 30 providers', params: { code: 'too_many' } })
    .nullish()
    .meta({ example: { imdb: 'tt0013442' } }),
  artists: names(50).nullish(),
  authors: names(50).nullish(),
  narrators: names(50).nullish(),
  publisher: line(200).nullish(),
  isbn: line(20).nullish(),
  series: z.strictObject({ title: line(300).meta({ example: 'Discworld' }), number: line(20).optional() }).nullish(),
  platform: line(100).nullish().meta({ example: 'Game Boy' }),
  takenAt: Moment.nullish(),
  takenAtOffset: z
    .int()
    .min(-24 * 60)
    .max(24 * 60)
    .nullish()
    .describe('Minutes east of UTC'),
  place: z.strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) }).nullish(),
  readingDirection: z.enum(['ltr', 'rtl', 'vertical']).nullish(),
  links: z
    .array(z.strictObject({ name: line(100).meta({ example: 'Films' }), url: webAddress }))
    .max(20)
    .nullish(),
  addedAt: Moment.nullish(),
  custom: z
    .record(z.string().regex(/^[a-z0-9_]{1,40}$/), CustomValue.nullable())
    .refine((values) => Object.keys(values).length <= 60, { error: 'at most 60 fields', params: { code: 'too_many' } })
    .optional()
    .describe('Values of custom fields by key; null clears')
    .meta({ example: { shelf: 'A3' } }),
};

export const ItemEdit = z
  .strictObject({
    ...plainEdits,
    people: z.array(CreditEdit).max(500).nullish(),
    edition: z.record(Id, line(200).nullable()).optional().describe('Labels of editions by the id of their file'),
    chapters: z
      .record(Id, z.array(ChapterEdit).max(1000).nullable())
      .optional()
      .describe('Chapters by the id of their file'),
  })
  .meta({ id: 'ItemEdit', description: 'Null returns a field to its sources and unlocks it' });
export type ItemEdit = z.output<typeof ItemEdit>;

export const EditQuery = z.object({
  lock: queryBool.optional().describe('False sets values that the next refresh may replace. Default true'),
  confirm: queryBool.optional().describe('Allows labels that hide the item from the caller'),
});

export const FieldOrigin = z
  .object({
    field: z.string().meta({ example: 'title' }),
    value: z.unknown().describe('Null for an empty field').meta({ example: 'Nosferatu' }),
    locked: z.boolean(),
    source: z.enum(['person', 'nfo', 'embedded', 'file-name', 'agent', 'default']),
    agent: z.string().optional().meta({ example: 'tmdb' }),
    changedBy: z.object({ id: Id, displayName: z.string().meta({ example: 'Ada' }) }).optional(),
    changedAt: Timestamp.optional(),
    agentValue: z.unknown().optional().describe('The value that a refresh would set, when it differs'),
  })
  .meta({ id: 'FieldOrigin' });
export type FieldOrigin = z.output<typeof FieldOrigin>;

export const FieldOrigins = z
  .object({
    items: z.array(FieldOrigin).describe('Every editable field of the type, in the order of an edit form'),
    lockedFields: z.array(z.string()).meta({ example: ['title'] }),
    revision: z.int(),
  })
  .meta({ id: 'FieldOrigins' });

export const LocksPut = z.strictObject({
  fields: z
    .array(z.string().max(60))
    .max(100)
    .describe('The whole set, or the one entry `all`')
    .meta({ example: ['title'] }),
});
export const LockedFields = z
  .object({ lockedFields: z.array(z.string()).meta({ example: ['title'] }) })
  .meta({ id: 'LockedFields' });

export const MergeRequest = z
  .strictObject({
    intoId: Id,
    itemIds: z.array(Id).min(1).max(50),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: 'MergeRequest' });
export type MergeRequest = z.output<typeof MergeRequest>;

export const MergeResult = z
  .object({
    item: ItemDetail,
    files: z.int().describe('Files that move'),
    children: z.int().describe('Descendants that move or become one with others'),
    dryRun: z.boolean(),
  })
  .meta({ id: 'MergeResult' });

export const SplitRequest = z
  .strictObject({
    fileIds: z.array(Id).min(1).max(200),
    target: z
      .union([
        z.strictObject({ itemId: Id }),
        z.strictObject({
          parentIndex: z.int().min(0).max(100_000).meta({ example: 1 }),
          index: z.int().min(0).max(100_000).meta({ example: 2 }),
        }),
      ])
      .optional()
      .describe('Another item, or the number of an episode or track, which is made when absent. Default: a new item'),
  })
  .meta({ id: 'SplitRequest' });
export type SplitRequest = z.output<typeof SplitRequest>;

export const SplitResult = z
  .object({
    item: ItemDetail,
    created: z.array(ItemSummary),
  })
  .meta({ id: 'SplitResult', description: '`item` is the rest of the item; the target when it has no file left' });

export const DeleteItemQuery = z.object({
  files: z
    .enum(['keep', 'trash'])
    .default('keep')
    .describe('`keep` leaves the files, which scans ignore; `trash` moves them to the trash folder of their storage'),
  fileId: Id.optional().describe('Only this edition'),
});
