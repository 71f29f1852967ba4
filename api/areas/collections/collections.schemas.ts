import { z } from 'zod';
import { ItemSummary, ItemType, SmartRules } from '#areas/items/public.ts';
import { MAX_LENGTH } from '#kernel/filter.ts';
import { brokenReasons } from '#kernel/filter-kept.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Id, ImageRef, Milliseconds, queryBool, Timestamp } from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';

export const CollectionKind = z.enum(['manual', 'smart']).meta({ id: 'CollectionKind' });
export const CollectionSource = z.enum(['person', 'agent']).meta({ id: 'CollectionSource' });
export const CollectionSharing = z.enum(['private', 'accounts', 'everyone']).meta({ id: 'CollectionSharing' });
const Pinned = z.enum(['library', 'home']);

/** Sorts of a collection's items. */
export const itemSorts = ['manual', 'title', 'year', 'releasedOn', 'addedAt', 'rating', 'runtimeMs', 'random'] as const;

export const CollectionPerson = z
  .object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) })
  .meta({ id: 'CollectionPerson' });

const collection = {
  id: Id,
  name: z.string().meta({ example: 'Halloween' }),
  sortName: z.string().meta({ example: 'halloween' }),
  kind: CollectionKind,
  source: CollectionSource.describe('agent: a film series that a catalogue knows'),
  overview: z.string().optional(),
  owner: CollectionPerson.optional().describe("Absent on the server's"),
  sharing: CollectionSharing,
  mine: z.boolean(),
  canEdit: z.boolean(),
  itemCount: z.int().describe('Visible to the caller; an estimate beyond 10,000').meta({ example: 12 }),
  types: z
    .array(z.object({ type: ItemType.meta({ example: 'movie' }), count: z.int() }))
    .describe('Of the first 10,000 items'),
  artwork: z.object({
    poster: ImageRef.optional().describe('The chosen image, or the picture made of the first four items'),
    backdrop: ImageRef.optional(),
    mosaic: z.array(ImageRef).max(4).describe('Pictures of the first four visible items'),
  }),
  sort: z.string().describe('`manual` is the order by hand, or that of the rules').meta({ example: 'manual' }),
  pinned: z.array(Pinned).describe('Where it is shown'),
  libraryIds: z.array(Id).describe('Libraries of its visible items'),
  externalIds: z.record(z.string(), z.string()).meta({ example: { tmdb: '10' } }),
  watchedCount: z.int().optional().describe('In getCollection'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const Collection = z.object(collection).meta({ id: 'Collection' });
export type Collection = z.output<typeof Collection>;

export const CollectionDetail = z
  .object({
    ...collection,
    rules: SmartRules.optional(),
    accounts: z.array(CollectionPerson).optional().describe('Whom it is shared with, for those who may edit it'),
    years: z.object({ from: z.int().optional(), to: z.int().optional() }),
    runtimeMs: Milliseconds,
    lockedFields: z
      .array(z.string())
      .describe('Fields of a catalogue that a person set')
      .meta({ example: ['name'] }),
    candidates: z
      .array(z.object({ userId: Id, displayName: z.string(), avatar: ImageRef.optional() }))
      .max(200)
      .optional()
      .describe('include=candidates: with whom an editor may share it'),
  })
  .meta({ id: 'CollectionDetail' });
export type CollectionDetail = z.output<typeof CollectionDetail>;

const Name = z.string().trim().min(1).max(120);
const Overview = z.string().max(5000);
const userIds = z.array(Id).max(100);
const ids = (max: number) => z.array(Id).max(max);
const pinned = z.array(Pinned).max(2);
/** A sort of listCollectionItems other than random, by up to three fields. */
const ownSorts = itemSorts.filter((name) => name !== 'random');
const OwnSort = sortQuery(ownSorts).unwrap().min(1);

export const CollectionDraft = z
  .strictObject({
    name: Name,
    kind: CollectionKind.default('manual'),
    overview: Overview.optional(),
    itemIds: ids(1000).optional().describe('Of a manual one, in this order'),
    rules: SmartRules.optional().describe('Of a smart one'),
    sharing: CollectionSharing.default('private'),
    userIds: userIds.optional().describe('With sharing accounts'),
    sort: OwnSort.optional(),
    pinned: pinned.optional(),
    ofServer: z.boolean().default(false).describe('No account owns it; needs `item:edit`'),
  })
  .meta({ example: { name: 'Halloween', sharing: 'everyone' } });
export type CollectionDraft = z.output<typeof CollectionDraft>;

export const CollectionChange = z.strictObject({
  name: Name.optional(),
  sortName: z.string().trim().min(1).max(120).nullable().optional().describe('null is made from the name'),
  overview: Overview.nullable().optional(),
  rules: SmartRules.optional(),
  sharing: CollectionSharing.optional(),
  userIds: userIds.optional(),
  sort: OwnSort.optional(),
  posterImageId: Id.nullable().optional().describe('null is the mosaic'),
  backdropImageId: Id.nullable().optional(),
  pinned: pinned.optional(),
  freeze: z.boolean().optional().describe('true turns a smart one into a manual one with what the caller sees'),
  poster: uploaded.optional(),
  backdrop: uploaded.optional(),
});
export type CollectionChange = z.output<typeof CollectionChange>;

export const collectionSorts = {
  sortName: { column: 'c.sort_folded', type: 'text' },
  updatedAt: { column: 'c.updated_at', type: 'timestamptz' },
  createdAt: { column: 'c.created_at', type: 'timestamptz' },
  itemCount: { column: 'coalesce(n.item_count, 0)', type: 'bigint' },
} as const satisfies SortTable;

export const CollectionsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(collectionSorts),
  q: z.string().trim().min(1).max(100).optional(),
  itemId: Id.optional().describe('Those that hold the item; of smart ones at most the 200 newest are tested'),
  libraryId: Id.optional().describe('With at least one visible item in it'),
  kind: CollectionKind.optional(),
  source: CollectionSource.optional(),
  mine: queryBool.optional(),
});
export type CollectionsQuery = z.output<typeof CollectionsQuery>;

export const ItemsAdded = z.strictObject({
  itemIds: z.array(Id).min(1).max(1000),
  afterItemId: Id.nullable().optional().describe('null is first; absent is last'),
});
export const ItemsAddedAnswer = z
  .object({ added: z.int(), already: z.int(), collection: Collection })
  .meta({ id: 'CollectionItemsAdded' });

export const ItemsChange = z.strictObject({
  remove: ids(1000).optional(),
  move: z.strictObject({ itemIds: z.array(Id).min(1).max(1000), afterItemId: Id.nullable() }).optional(),
});
export type ItemsChange = z.output<typeof ItemsChange>;

export const SmartPreviewQuery = z
  .strictObject({
    rules: SmartRules.optional(),
    filter: z
      .string()
      .min(1)
      .max(MAX_LENGTH)
      .optional()
      .describe('Instead of rules')
      .meta({ example: 'year:gte:2000' }),
    libraryIds: z.array(Id).max(100).optional().describe('With a filter'),
    sample: z.int().min(0).max(50).default(12),
  })
  .refine(({ rules, filter }) => (rules === undefined) !== (filter === undefined), {
    error: 'exactly one of rules and filter',
    params: { code: 'exactly_one' },
  })
  .meta({ example: { filter: 'year:gte:2000', sample: 12 } });
export type SmartPreviewQuery = z.output<typeof SmartPreviewQuery>;

export const SmartPreview = z
  .object({
    count: z.int().describe('Exact up to 10,000').meta({ example: 12 }),
    countIsEstimate: z.boolean(),
    durationMs: Milliseconds.optional(),
    sizeBytes: z.int().optional(),
    items: z.array(ItemSummary),
    rules: SmartRules,
    filter: z.string().optional().describe('The same as a filter string; absent when the rules have an `any`'),
    ignored: z.array(
      z.object({
        path: z.array(z.union([z.string(), z.int()])).meta({ example: ['rules', 'match', 'all', 0] }),
        reason: z.enum(brokenReasons),
      }),
    ),
  })
  .meta({ id: 'SmartPreview' });
export type SmartPreview = z.output<typeof SmartPreview>;
