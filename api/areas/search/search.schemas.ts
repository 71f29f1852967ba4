import { z } from 'zod';
import { ItemSummary, ItemType, itemFilter, itemFilterOf, ListedItem, PersonRole } from '#areas/items/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, ImageRef, Language, Milliseconds, queryBool, queryInt } from '#kernel/schemas.ts';

/** A question; blanks alone are none. */
const question = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    })
    .refine((text) => text.trim() !== '', { error: 'more than blanks', params: { code: 'blank' } })
    .meta({ example: 'nosferatu' });

const Mark = z
  .object({ start: z.int().min(0), length: z.int().min(1) })
  .meta({ id: 'SearchMark', description: 'UTF-16 units of the text that a word of the question matched' });
export type Mark = z.output<typeof Mark>;

const hitKinds = ['item', 'person', 'face', 'studio', 'collection', 'playlist', 'channel', 'program'] as const;
const matchedParts = ['title', 'original-title', 'alias', 'person', 'studio', 'tag', 'overview', 'file'] as const;
export type Matched = (typeof matchedParts)[number];

export const SearchHit = z
  .object({
    kind: z.enum(hitKinds),
    id: Id,
    item: ListedItem.optional(),
    title: z.string().meta({ example: 'Nosferatu' }),
    subtitle: z.string().optional().describe('Year, show and number, artist, or role').meta({ example: '1922' }),
    image: ImageRef.optional(),
    matched: z.enum(matchedParts),
    highlight: z
      .array(
        z.object({
          field: z.string().meta({ example: 'title' }),
          text: z.string().meta({ example: 'Nosferatu' }),
          marks: z.array(Mark),
        }),
      )
      .optional(),
    score: z.number().describe('Only for comparing hits of one answer'),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.output<typeof SearchHit>;

export const TranscriptHit = z
  .object({
    item: ItemSummary,
    fileId: Id,
    streamId: Id,
    language: z.string().describe('`und` when it is unknown').meta({ example: 'de' }),
    generated: z.boolean().describe('Heard by a speech model'),
    startMs: Milliseconds.describe('With the timing correction in force').meta({ example: 754_000 }),
    endMs: Milliseconds.meta({ example: 757_200 }),
    text: z.string().meta({ example: 'Your wife has a lovely neck.' }),
    marks: z.array(Mark),
    before: z.string().optional().describe('The cue before'),
    after: z.string().optional().describe('The cue after'),
    more: z.int().min(0).describe('Further hits in the same item'),
  })
  .meta({ id: 'TranscriptHit' });
export type TranscriptHit = z.output<typeof TranscriptHit>;

export const SearchGroups = z
  .object({
    q: z.string().describe('As understood').meta({ example: 'nosferatu' }),
    corrected: z.string().optional().describe('The likeliest spelling, when little was found'),
    groups: z.array(
      z.object({
        key: z.string().describe('An item type, or a kind').meta({ example: 'movie' }),
        title: z.string().meta({ example: 'movie' }),
        total: z.int().min(1),
        totalIsEstimate: z.boolean().optional(),
        hits: z.array(SearchHit),
      }),
    ),
    transcripts: z.object({ total: z.int().min(0), hits: z.array(TranscriptHit).max(3) }).optional(),
    partial: z.boolean().optional().describe('Something took longer than its limit and is missing'),
    tookMs: z.int().min(0),
  })
  .meta({ id: 'SearchGroups' });
export type SearchGroups = z.output<typeof SearchGroups>;

export const Suggestion = z
  .object({
    kind: z.enum(['item', 'person', 'face', 'studio', 'collection', 'genre', 'label']),
    id: Id.optional(),
    text: z.string().meta({ example: 'Nosferatu' }),
    subtitle: z.string().optional().meta({ example: '1922' }),
    type: z.string().optional().describe('Of an item').meta({ example: 'movie' }),
    image: ImageRef.optional(),
    marks: z.array(Mark),
  })
  .meta({ id: 'Suggestion' });
export type Suggestion = z.output<typeof Suggestion>;

export const Suggestions = z.object({ items: z.array(Suggestion), tookMs: z.int().min(0) });

export const partial = z
  .boolean()
  .optional()
  .describe('The search took longer than two seconds; some hits are missing');

const kindNames = ['person', 'studio', 'collection', 'program'] as const;
/** Whether the key of a group is a kind of hits, not an item type. */
export const isKind = (key: string): boolean => (kindNames as readonly string[]).includes(key);

export const AllQuery = z.object({
  q: question(200),
  kinds: commaList(z.union([ItemType, z.enum(kindNames)]), 30)
    .optional()
    .describe('Groups: item types, person, studio, collection, program'),
  libraryId: Id.optional(),
  perGroup: queryInt(1, 20).default(6),
  transcripts: queryBool.default(true),
});
export type AllQuery = z.output<typeof AllQuery>;

export const itemSorts = ['score', 'title', 'year', 'addedAt', 'rating'] as const;

export const ItemsQuery = z.object({
  ...pageQuery,
  q: question(200).optional(),
  type: commaList(ItemType, 30).optional(),
  libraryId: Id.optional(),
  exact: queryBool.default(false).describe('Whole words only, and no likeness'),
  externalId: z
    .string()
    .max(200)
    .regex(/^[a-z0-9-]{1,40}:[^\s\0]+$/)
    .optional()
    .describe('`source:value`, in place of q')
    .meta({ example: 'imdb:tt0013442' }),
  sort: sortQuery(itemSorts),
  filter: itemFilter,
});

export const peopleSorts = ['score', 'name', 'itemCount'] as const;

export const PeopleSearchQuery = z.object({
  ...pageQuery,
  q: question(200),
  role: PersonRole.optional(),
  libraryId: Id.optional(),
  faces: queryBool.default(true).describe('Named face groups too'),
  sort: sortQuery(peopleSorts),
});
export type PeopleSearchQuery = z.output<typeof PeopleSearchQuery>;

export const transcriptSorts = ['score', 'item', 'startMs'] as const;

export const TranscriptsQuery = z.object({
  ...pageQuery,
  q: question(200),
  itemId: Id.optional().describe('An item, season, show or course'),
  libraryId: Id.optional(),
  language: Language.optional(),
  perItem: queryInt(1, 50).default(3),
  context: queryBool.default(true).describe('The cues before and after'),
  sort: sortQuery(transcriptSorts),
  filter: itemFilterOf(['type', 'year', 'genre', 'person', 'label', 'added_at']),
});
export type TranscriptsQuery = z.output<typeof TranscriptsQuery>;

export const SuggestQuery = z.object({
  q: question(60),
  libraryId: Id.optional(),
  types: commaList(ItemType, 30).optional(),
  limit: queryInt(1, 20).default(8),
});
export type SuggestQuery = z.output<typeof SuggestQuery>;
