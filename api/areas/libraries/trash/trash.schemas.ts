import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Bytes, Id, Moment, Timestamp } from '#kernel/schemas.ts';

export const TrashReason = z.enum(['missing', 'deleted', 'folder-removed']);

export const TrashEntry = z
  .object({
    item: ItemSummary,
    reason: TrashReason,
    trashedAt: Timestamp,
    trashedBy: Id.nullable(),
    purgeAt: Timestamp.nullable().describe('null is never, also while the storage is unavailable'),
    childCount: z.int(),
    files: z.array(
      z.object({
        fileId: Id,
        sizeBytes: Bytes.meta({ example: 4294967296 }),
        present: z.boolean().nullable().describe('null while the storage is unavailable'),
      }),
    ),
    filesInTrash: z.boolean(),
    restorable: z.boolean(),
  })
  .meta({ id: 'TrashEntry' });
export type TrashEntry = z.output<typeof TrashEntry>;

export const TrashTotals = z.object({ items: z.int(), files: z.int(), bytesOnStorage: Bytes });

/** A library keeps its trash for a fixed number of days, so purgeAt has the order of trashedAt. */
export const trashSorts: SortTable = {
  trashedAt: { column: 'i.trashed_at', type: 'timestamptz' },
  purgeAt: { column: 'i.trashed_at', type: 'timestamptz' },
  title: { column: 'i.sort_title', type: 'text' },
};

export const TrashQuery = z.object({
  ...pageQuery,
  sort: sortQuery(trashSorts),
  reason: TrashReason.optional(),
  q: z.string().min(1).max(100).optional(),
});

export const EmptyTrashQuery = z.object({ reason: TrashReason.optional(), before: Moment.optional() });

export const Purged = z.object({ purged: z.int(), filesDeleted: z.int(), bytesFreed: Bytes });

export const EmptiedTrash = Purged.extend({
  skipped: z.array(z.object({ itemId: Id, reason: z.enum(['storage-unavailable', 'file-busy', 'read-only']) })),
  jobId: Id.optional(),
}).meta({ id: 'EmptiedTrash' });
export type EmptiedTrash = z.output<typeof EmptiedTrash>;

export const RestoreTrash = z
  .strictObject({
    itemIds: z.array(Id).min(1).max(200).optional(),
    all: z.boolean().optional().meta({ example: true }),
    reason: TrashReason.optional().describe('With all'),
  })
  .refine((body) => (body.itemIds === undefined) === (body.all === true), {
    error: 'exactly one of itemIds and all',
    params: { code: 'exactly_one' },
  });

export type RestoreTrash = z.output<typeof RestoreTrash>;

export const RestoredTrash = z
  .object({
    restored: z.int(),
    missing: z.int(),
    notRestored: z.array(
      z.object({
        itemId: Id,
        reason: z.enum(['not-in-trash', 'storage-unavailable', 'target-exists', 'folder-gone']),
      }),
    ),
    jobId: Id.optional(),
  })
  .meta({ id: 'RestoredTrash' });
export type RestoredTrash = z.output<typeof RestoredTrash>;

export const TrashedItemParams = z.object({ id: Id, itemId: Id });
