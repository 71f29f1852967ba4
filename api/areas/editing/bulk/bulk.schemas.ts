import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import { CreditEdit, DeleteItemQuery, line, names, plainEdits } from '../editing.schemas.ts';
import { RefreshPost } from '../match/match.schemas.ts';

const Lists = z.strictObject({
  genres: names(50)
    .optional()
    .meta({ example: ['Horror'] }),
  tags: names(200)
    .optional()
    .meta({ example: ['silent'] }),
  labels: z.array(Id).max(50).optional(),
  people: z.array(CreditEdit).max(100).optional(),
});
export type Lists = z.output<typeof Lists>;

export const BulkRequest = z
  .strictObject({
    action: z.enum(['edit', 'refresh', 'delete', 'lock', 'unlock']),
    itemIds: z.array(Id).min(1).max(1000).optional(),
    filter: z
      .strictObject({
        libraryId: Id,
        type: line(60).optional().meta({ example: 'movie' }),
        filter: z.string().max(4000).meta({ example: 'year:lt:1930' }),
      })
      .optional()
      .describe('Instead of itemIds; the ids that match are fixed at the start'),
    set: z.strictObject(plainEdits).optional(),
    add: Lists.optional(),
    remove: Lists.optional(),
    fields: z
      .array(z.string().max(60))
      .min(1)
      .max(100)
      .optional()
      .describe('For lock and unlock; `all` as in setItemLocks')
      .meta({ example: ['title'] }),
    refresh: RefreshPost.optional().describe('For refresh; absent is its defaults'),
    delete: DeleteItemQuery.omit({ fileId: true }).strict().optional().describe('For delete; absent keeps the files'),
    expect: z
      .int()
      .min(0)
      .optional()
      .describe('The number of items that were shown; 409 when it differs by more than 1 %'),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: 'BulkRequest' });
export type BulkRequest = z.output<typeof BulkRequest>;

/** The last two are those of deleteItem with `files=trash`. */
export const refusals = [
  ...(['not-found', 'type', 'invalid', 'storage-unavailable'] as const),
  ...(['read-only', 'file-deletion-off'] as const),
];

export const BulkResult = z
  .object({
    dryRun: z.boolean(),
    matched: z.int(),
    changed: z.int(),
    unchanged: z.int(),
    refused: z.array(z.object({ itemId: Id, reason: z.enum(refusals) })).describe('The first 200'),
    jobId: Id.optional().describe('With 202: the job that changes the items'),
    undoUntil: Timestamp.optional().describe('Until then null values for the same ids undo the edit'),
  })
  .meta({ id: 'BulkResult' });
export type BulkResult = z.output<typeof BulkResult>;
