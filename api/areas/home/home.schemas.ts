import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery } from '#kernel/page.ts';
import { commaList, Id, queryInt, Timestamp } from '#kernel/schemas.ts';
import { HomeDevice, HomeRowKind, RowId, RowStyle } from './layout/layout.schemas.ts';

export const CardTarget = z.enum(['play', 'open', 'read', 'listen', 'join', 'watch-live']);

export const HomeCard = z
  .object({
    item: ItemSummary.optional().describe('Absent on cards of libraries'),
    target: CardTarget,
    url: z
      .string()
      .describe('Relative: what the card opens')
      .meta({ example: '/item/01977c2e-5a00-7a56-8145-270ce6b3bebd' }),
    label: z.string().optional().describe('Such as S2 E4; on cards of libraries their name').meta({ example: 'S2 E4' }),
    progress: z.number().min(0).max(1).optional().meta({ example: 0.24 }),
    badge: z.enum(['new', 'live', 'leaving', 'downloaded']).optional(),
    hideKey: Id.optional().describe('For hideFromHome'),
  })
  .meta({ id: 'HomeCard' });
export type HomeCard = z.output<typeof HomeCard>;

const row = {
  rowId: z.string().meta({ example: 'recently-added' }),
  kind: HomeRowKind,
  title: z.string().meta({ example: 'Recently added' }),
  subtitle: z.string().optional(),
  style: RowStyle,
  hasMore: z.boolean(),
  total: z.int().optional(),
  seeAll: z.string().optional().describe('Relative address of a whole list').meta({ example: '/libraries' }),
  deferred: z.boolean().describe('The row was late: read it with getHomeRow'),
  reason: z
    .object({ itemId: Id, title: z.string().meta({ example: 'Nosferatu' }) })
    .optional()
    .describe('The item that the row was made for'),
  refreshAfterMs: z.int().optional(),
};

export const HomeRowHead = z.object(row).meta({ id: 'HomeRowHead' });
export const HomeRow = z.object({ ...row, items: z.array(HomeCard) }).meta({ id: 'HomeRow' });
export type HomeRow = z.output<typeof HomeRow>;

export const HomeNotice = z.object({
  code: z.enum(['no-libraries', 'nothing-shared']),
  text: z.string().meta({ example: 'No library is shared with you yet' }),
  url: z.string().optional().meta({ example: '/libraries' }),
});

export const Home = z
  .object({
    rows: z.array(HomeRow),
    hero: HomeRow.optional(),
    layoutRevision: z.int().meta({ example: 3 }),
    generatedAt: Timestamp,
    notices: z.array(HomeNotice).max(3),
  })
  .meta({ id: 'Home' });
export type Home = z.output<typeof Home>;

export const HomeQuery = z.object({
  device: HomeDevice.default('web'),
  rows: commaList(RowId, 40).optional().describe('Only these rows'),
  perRow: queryInt(1, 60).optional().describe('Instead of the size of each row'),
});
export type HomeQuery = z.output<typeof HomeQuery>;

export const RowParams = z.object({ rowId: RowId });
export const RowQuery = z.object(pageQuery);
