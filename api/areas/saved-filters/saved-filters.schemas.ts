import { z } from 'zod';
import { sortNames } from '#areas/items/public.ts';
import { MAX_LENGTH } from '#kernel/filter.ts';
import { brokenReasons } from '#kernel/filter-kept.ts';
import { sortQuery } from '#kernel/page.ts';
import { Id, Timestamp } from '#kernel/schemas.ts';

const View = z.enum(['poster', 'landscape', 'list', 'table', 'timeline']).meta({ id: 'FilterView' });
const GroupBy = z.enum(['none', 'letter', 'year', 'genre', 'added']).meta({ id: 'FilterGroupBy' });

const BrokenCondition = z.object({
  condition: z.int().describe('Its place in the filter, from 0').meta({ example: 0 }),
  reason: z.enum(brokenReasons),
});
export type BrokenCondition = z.output<typeof BrokenCondition>;

export const SavedFilter = z
  .object({
    id: Id,
    libraryId: Id,
    name: z.string().meta({ example: 'Unseen horror' }),
    filter: z.string().describe('As in listLibraryItems').meta({ example: 'genre:eq:Horror;unwatched:eq:true' }),
    sort: z.string().meta({ example: '-year' }),
    view: View.optional(),
    groupBy: GroupBy.optional(),
    icon: z.string().optional().meta({ example: 'ghost' }),
    position: z.int().describe('Among the own ones, from 0'),
    pinned: z.boolean().describe('Shown in the sidebar'),
    shared: z.boolean(),
    mine: z.boolean(),
    owner: z
      .object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) })
      .optional()
      .describe('Of shared ones'),
    broken: z.array(BrokenCondition).describe('Conditions to leave out: their field or value is gone'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'SavedFilter' });
export type SavedFilter = z.output<typeof SavedFilter>;

export const FilterParams = z.object({ id: Id, filterId: Id });

export const FilterDraft = z
  .strictObject({
    name: z.string().trim().min(1).max(80),
    filter: z.string().min(1).max(MAX_LENGTH),
    sort: sortQuery(sortNames, 'custom.').unwrap().min(1).default('title'),
    view: View.optional(),
    groupBy: GroupBy.optional(),
    icon: z
      .string()
      .regex(/^[a-z0-9-]{1,60}$/)
      .optional()
      .describe('A name of Icons'),
    position: z.int().min(0).max(1000).optional().describe('Absent is last'),
    pinned: z.boolean().default(false),
    shared: z.boolean().default(false).describe('For everyone with the library; needs `library:manage`'),
  })
  .meta({ example: { name: 'Unseen horror', filter: 'genre:eq:Horror;unwatched:eq:true' } });
export type FilterDraft = z.output<typeof FilterDraft>;
