import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { MAX_LENGTH } from '#kernel/filter.ts';
import { Id, ManagedBy, Moment, Timestamp } from '#kernel/schemas.ts';

export const rowKinds = [
  'continue-watching',
  'next-up',
  'continue',
  'continue-reading',
  'continue-listening',
  'recently-added',
  'new-episodes',
  'newly-released',
  'watchlist',
  'collection',
  'playlist',
  'saved-filter',
  'filter',
  'live-now',
  'recordings',
  'courses',
  'games',
  'photos-on-this-day',
  'photos-recent',
  'because-you-watched',
  'top-here',
  'unwatched-random',
  'favorites',
  'friends-activity',
  'rooms',
  'discover',
  'libraries',
  'hero',
] as const;
export const HomeRowKind = z.enum(rowKinds).meta({ id: 'HomeRowKind' });
export type HomeRowKind = z.output<typeof HomeRowKind>;

export const rowStyles = ['posters', 'landscape', 'squares', 'hero', 'list', 'photos'] as const;
export const RowStyle = z.enum(rowStyles).meta({ id: 'HomeRowStyle' });
export type RowStyle = z.output<typeof RowStyle>;

export const HomeDevice = z.enum(['tv', 'phone', 'web']);
export type HomeDevice = z.output<typeof HomeDevice>;

export const HomeHero = z.enum(['off', 'continue', 'newest', 'random']).meta({ id: 'HomeHero' });

/** A row's own name in addresses and in Redis. */
export const RowId = z
  .string()
  .regex(/^[\w.:-]{1,80}$/)
  .meta({ example: 'recently-added' });

export const RowSource = z
  .strictObject({
    libraryIds: z.array(Id).max(100).optional(),
    collectionId: Id.optional(),
    playlistId: Id.optional(),
    filterId: Id.optional(),
    filter: z.string().max(MAX_LENGTH).optional().describe('As in listItems').meta({ example: 'genre:eq:Horror' }),
    sort: z.string().max(100).optional().describe('As in listItems').meta({ example: '-year' }),
    genre: z.string().max(100).optional().meta({ example: 'Horror' }),
  })
  .meta({ id: 'HomeRowSource' });
export type RowSource = z.output<typeof RowSource>;

const row = {
  kind: HomeRowKind,
  title: z.string().min(1).max(60).optional().describe("Replaces the kind's own title").meta({ example: 'Scary' }),
  style: RowStyle.optional(),
  size: z.int().min(4).max(60).default(20).describe('Cards of the row on the first screen'),
  source: RowSource.optional(),
  devices: z.array(HomeDevice).max(3).optional().describe('Absent is every device'),
  hideWatched: z.boolean().default(false),
  pinned: z.boolean().optional(),
};

/** A row of a layout. */
export const LayoutRow = z.object({ rowId: RowId, ...row }).meta({ id: 'HomeLayoutRow' });
export type LayoutRow = z.output<typeof LayoutRow>;

/** A row to store: without a rowId it gets one. */
export const RowDraft = z.strictObject({ rowId: RowId.optional(), ...row });
export type RowDraft = z.output<typeof RowDraft>;

export const MOST_ROWS = 40;

const layout = {
  scope: z.enum(['profile', 'server']),
  source: z.enum(['own', 'server', 'built-in']).describe('Where the layout in force comes from'),
  rows: z.array(LayoutRow).max(MOST_ROWS),
  hiddenLibraryIds: z.array(Id),
  hero: HomeHero,
  managedBy: ManagedBy.optional(),
  revision: z.int().describe('0 while nothing is stored').meta({ example: 3 }),
  updatedAt: Timestamp.optional(),
};

export const HomeLayout = z.object(layout).meta({ id: 'HomeLayout' });
export type HomeLayout = z.output<typeof HomeLayout>;

export const RowNeed = z.enum(['libraryIds', 'collectionId', 'playlistId', 'filterId', 'filter']);

/** A kind of row that an editor can add. */
export const KindOffer = z
  .object({
    kind: HomeRowKind,
    title: z.string().meta({ example: 'Recently added' }),
    available: z.boolean(),
    reason: z
      .enum(['not-served', 'not-permitted', 'no-library'])
      .optional()
      .describe('Why such a row shows nothing: this version serves no such area, a restriction, or no such library'),
    styles: z.array(RowStyle).describe('The first is the default'),
    needs: z.array(RowNeed).describe('Members of `source` that such a row must have'),
  })
  .meta({ id: 'HomeRowKindOffer' });

export const Until = z.enum(['played-again', 'forever']);

export const HiddenCard = z.object({
  hideKey: Id,
  item: ItemSummary,
  rowId: z.string().optional().describe('Absent is every row').meta({ example: 'recently-added' }),
  until: z.union([Until, Timestamp]),
  at: Timestamp,
});

export const LayoutAnswer = z
  .object({
    ...layout,
    kinds: z.array(KindOffer),
    hidden: z.array(HiddenCard).optional().describe('Cards that the profile hid; scope profile only'),
  })
  .meta({ id: 'HomeLayoutInForce' });

export const LayoutQuery = z.object({ scope: z.enum(['profile', 'server']).default('profile') });

export const LayoutChange = z.strictObject({
  scope: z.enum(['profile', 'server']).default('profile'),
  revision: z.int().min(0).optional().describe('The revision that was edited; another one is 409').meta({ example: 3 }),
  rows: z
    .array(RowDraft)
    .max(MOST_ROWS)
    .nullable()
    .describe('null removes the layout, so that the one below is in force'),
  hiddenLibraryIds: z.array(Id).max(500).optional(),
  hero: HomeHero.optional(),
  validateOnly: z.boolean().default(false),
  managedBy: ManagedBy.nullable().optional().describe('Only the operator; null gives the layout free'),
});
export type LayoutChange = z.output<typeof LayoutChange>;

export const HideChange = z
  .strictObject({
    hideKey: Id.optional(),
    itemId: Id.optional(),
    hidden: z.boolean(),
    rowId: RowId.optional().describe('Absent is every row'),
    until: z.union([Until, Moment]).default('played-again'),
  })
  .refine(({ hideKey, itemId }) => (hideKey === undefined) !== (itemId === undefined), {
    error: 'exactly one of hideKey and itemId',
    params: { code: 'exactly_one' },
  })
  .meta({ example: { itemId: '01977c2e-5a00-7a56-8145-270ce6b3bebd', hidden: true, rowId: 'continue' } });
export type HideChange = z.output<typeof HideChange>;

export const HideAnswer = z
  .object({
    hideKey: Id,
    hidden: z.boolean(),
    rowId: z.string().optional().meta({ example: 'recently-added' }),
    until: z.union([Until, Timestamp]).optional(),
    rows: z
      .array(z.string())
      .describe('Ids of the rows that change')
      .meta({ example: ['continue'] }),
  })
  .meta({ id: 'HomeHidden' });
