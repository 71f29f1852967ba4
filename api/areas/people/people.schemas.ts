import { z } from 'zod';
import { ItemSummary, itemFilterOf, PersonRole } from '#areas/items/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Day, Id, ImageRef, queryBool, Timestamp } from '#kernel/schemas.ts';

/** Catalogues whose ids people have; `custom` is an id of one's own. */
export const idProviders = ['tmdb', 'imdb', 'tvdb', 'musicbrainz', 'openlibrary', 'wikidata', 'custom'] as const;

/** Fields that a person's hand locks against refreshes. */
export const lockable = [
  'name',
  'sortName',
  'aliases',
  'birthday',
  'deathday',
  'birthplace',
  'biography',
  'homepage',
  'externalIds',
] as const;
export type Lockable = (typeof lockable)[number];
const LockedField = z.enum(lockable);

/** One line of text without control characters. */
const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), {
      error: 'no control characters',
      params: { code: 'control_character' },
    })
    .refine((text) => text.trim() !== '', { error: 'more than blanks', params: { code: 'blank' } })
    .transform((text) => text.normalize('NFC').trim());

const Name = line(200).meta({ example: 'Max Schreck' });
const SortName = line(200).meta({ example: 'Schreck, Max' });
const Aliases = z
  .array(line(200))
  .max(50)
  .overwrite((names) => [...new Set(names)])
  .meta({ example: ['Friedrich Gustav Maximilian Schreck'] });
const Birthplace = line(200).meta({ example: 'Berlin' });
const Biography = z
  .string()
  .max(20_000)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), {
    error: 'no NUL, and whole characters',
    params: { code: 'control_character' },
  })
  .meta({ example: 'An actor of the stage and of silent films.' });
const Homepage = z
  .string()
  .max(1000)
  .refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:' && !new URL(text).username, {
    error: 'an https address',
    params: { code: 'invalid_url' },
  })
  .meta({ example: 'https://people.example/max-schreck' });
const ExternalId = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !/[\p{Cc}\s]/u.test(text) && text.isWellFormed(), {
    error: 'no blanks and no control characters',
    params: { code: 'control_character' },
  })
  .meta({ example: '104382' });

const idsWith = <S extends z.ZodType>(value: S) =>
  Object.fromEntries(idProviders.map((provider) => [provider, value.optional()])) as Record<
    (typeof idProviders)[number],
    z.ZodOptional<S>
  >;

export const Person = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Max Schreck' }),
    sortName: z.string().meta({ example: 'Schreck, Max' }),
    knownFor: PersonRole.optional().describe('The role of most visible credits'),
    portrait: ImageRef.optional(),
    birthday: z.iso.date().optional().meta({ example: '1879-09-06' }),
    deathday: z.iso.date().optional().meta({ example: '1936-02-20' }),
    itemCount: z.int().min(0).describe('Visible items; a show is one').meta({ example: 12 }),
    favorite: z.boolean().describe('Of the profile'),
  })
  .meta({ id: 'Person' });
export type Person = z.output<typeof Person>;

const RoleCount = z.object({ role: PersonRole, count: z.int().min(1).meta({ example: 4 }) });

export const Colleague = z
  .object({
    person: Person,
    together: z.int().min(1).describe('Visible items that credit both').meta({ example: 3 }),
    roles: z.array(PersonRole).describe('Roles of the colleague in these items'),
  })
  .meta({ id: 'Colleague' });
export type Colleague = z.output<typeof Colleague>;

export const PersonDetail = Person.extend({
  biography: z.string().optional().meta({ example: 'An actor of the stage and of silent films.' }),
  birthplace: z.string().optional().meta({ example: 'Berlin' }),
  aliases: z.array(z.string().meta({ example: 'Max Schreck-Norden' })).max(50),
  homepage: z.string().optional().meta({ example: 'https://people.example/max-schreck' }),
  externalIds: z.object(idsWith(z.string().meta({ example: '104382' }))),
  roles: z.array(RoleCount).describe('Visible items by role, most first'),
  sameAs: z
    .array(
      z.object({ itemId: Id, type: z.enum(['artist', 'author']), title: z.string().meta({ example: 'Max Schreck' }) }),
    )
    .describe('Artists and authors in libraries that are this person'),
  lockedFields: z.array(LockedField).describe('Fields that no refresh changes'),
  notify: z.boolean().describe('New items of the person reach the profile as a notification'),
  refreshedAt: Timestamp.optional(),
  updatedAt: Timestamp,
  colleagues: z.array(Colleague).max(20).optional().describe('With include=colleagues'),
  topItems: z.array(ItemSummary).max(12).optional().describe('With include=topItems'),
}).meta({ id: 'PersonDetail' });
export type PersonDetail = z.output<typeof PersonDetail>;

export const PersonCredit = z
  .object({
    item: ItemSummary,
    roles: z.array(
      z.object({
        role: PersonRole,
        character: z.string().optional().meta({ example: 'Count Orlok' }),
        job: z.string().optional().meta({ example: 'Director' }),
        order: z.int().optional(),
      }),
    ),
    episodes: z.int().optional().describe('On shows: visible episodes that credit the person').meta({ example: 8 }),
    year: z.int().optional().meta({ example: 1922 }),
  })
  .meta({ id: 'PersonCredit' });
export type PersonCredit = z.output<typeof PersonCredit>;

export const peopleSorts = ['sortName', 'itemCount', 'birthday', 'addedAt', 'random'] as const;

const Search = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), {
    error: 'no NUL, and whole characters',
    params: { code: 'control_character' },
  })
  .meta({ example: 'schreck' });

export const PeopleQuery = z.object({
  ...pageQuery,
  sort: sortQuery(peopleSorts),
  q: Search.optional().describe('Names and aliases: by the start of words, and alike'),
  role: PersonRole.optional(),
  libraryId: Id.optional(),
  favorite: queryBool.optional(),
  startsWith: z
    .string()
    .min(1)
    .max(3)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    })
    .optional()
    .describe('Beginning of the sort name, without case and accents')
    .meta({ example: 'sch' }),
});
export type PeopleQuery = z.output<typeof PeopleQuery>;

export const PersonQuery = z.object({
  include: commaList(z.enum(['colleagues', 'topItems']), 2).optional(),
});

export const personItemSorts = ['year', 'title', 'rating', 'addedAt'] as const;
/** Fields of the filter of a person's items. */
const itemFilterFields = ['type', 'year', 'genre', 'label', 'rating', 'age_rating', 'watched', 'unwatched'] as const;

export const PersonItemsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(personItemSorts),
  filter: itemFilterOf(itemFilterFields),
  role: PersonRole.optional(),
  libraryId: Id.optional(),
  episodes: queryBool.default(false).describe('List episodes singly instead of their show'),
});
export type PersonItemsQuery = z.output<typeof PersonItemsQuery>;

const facts = {
  sortName: SortName,
  aliases: Aliases,
  birthday: Day.meta({ example: '1879-09-06' }),
  deathday: Day.meta({ example: '1936-02-20' }),
  birthplace: Birthplace,
  biography: Biography,
  homepage: Homepage,
};

/** 400 for a death before the birth, where both are given. */
const inOrder = (life: { birthday?: string | null | undefined; deathday?: string | null | undefined }): boolean =>
  !life.birthday || !life.deathday || life.deathday >= life.birthday;
const DEATH_FIRST = {
  error: 'before the birthday',
  path: ['deathday'],
  params: { code: 'before_birthday' },
};

export const PersonDraft = z
  .strictObject({
    name: Name,
    ...(Object.fromEntries(Object.entries(facts).map(([name, schema]) => [name, schema.optional()])) as {
      [K in keyof typeof facts]: z.ZodOptional<(typeof facts)[K]>;
    }),
    externalIds: z.strictObject(idsWith(ExternalId)).optional(),
  })
  .refine(inOrder, DEATH_FIRST);
export type PersonDraft = z.output<typeof PersonDraft>;

export const PersonChange = z
  .strictObject({
    name: Name.optional(),
    ...(Object.fromEntries(Object.entries(facts).map(([name, schema]) => [name, schema.nullable().optional()])) as {
      [K in keyof typeof facts]: z.ZodOptional<z.ZodNullable<(typeof facts)[K]>>;
    }),
    externalIds: z.strictObject(idsWith(ExternalId.nullable())).optional().describe('Merged by key; null removes'),
    lockedFields: z
      .array(LockedField)
      .max(lockable.length)
      .optional()
      .describe('Replaces the locks; fields of this request are locked as well, those set to null are not'),
  })
  .refine(inOrder, DEATH_FIRST);
export type PersonChange = z.output<typeof PersonChange>;

export const DeletePersonQuery = z.object({
  block: queryBool.default(false).describe('Remember the external ids, so that no refresh brings the person back'),
});

export const PeopleMerge = z.strictObject({
  personIds: z
    .array(Id)
    .min(1)
    .max(20)
    .overwrite((ids) => [...new Set(ids)]),
});

export const PersonRefresh = z.strictObject({ replacePortrait: z.boolean().default(false) });

export const FavoritePut = z.strictObject({ favorite: z.boolean(), notify: z.boolean().default(false) });
export const Favorite = z.object({ favorite: z.boolean(), notify: z.boolean() });
