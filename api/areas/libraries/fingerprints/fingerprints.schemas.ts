import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { Bytes, Id, Milliseconds, queryBool, queryInt, Timestamp } from '#kernel/schemas.ts';
import { fingerprintKinds, MOST_DISTANCE } from './kinds.ts';

const Count = z.int().min(0);

export const FingerprintProgress = z
  .object({
    libraryId: Id,
    state: z.enum(['idle', 'waiting', 'running']),
    kinds: z.array(
      z.object({
        kind: z.enum(fingerprintKinds),
        algorithm: z.string().meta({ example: 'phash-25-frames' }),
        version: z.int(),
        total: Count.meta({ example: 1200 }),
        done: Count.meta({ example: 1200 }),
        failed: Count,
        remainingMs: Milliseconds.optional(),
      }),
    ),
    pairsReady: z.boolean().describe('Every queued file was compared with the others'),
    startedAt: Timestamp.optional(),
    finishedAt: Timestamp.optional(),
  })
  .meta({ id: 'FingerprintProgress' });
export type FingerprintProgress = z.output<typeof FingerprintProgress>;

export const FingerprintRequest = z
  .strictObject({
    kinds: z.array(z.enum(fingerprintKinds)).min(1).max(4).optional().describe('All that apply when absent'),
    redo: z.boolean().default(false).describe('Makes those again that exist'),
  })
  .meta({ id: 'FingerprintRequest' });
export type FingerprintRequest = z.output<typeof FingerprintRequest>;

/** The groups are sorted in memory: no column stands behind them. */
export const duplicateSorts: SortTable = {
  reclaimableBytes: { column: '', type: 'bigint' },
  totalBytes: { column: '', type: 'bigint' },
  distance: { column: '', type: 'bigint' },
};

export const DuplicatesQuery = z.strictObject({
  ...pageQuery,
  sort: sortQuery(duplicateSorts),
  distance: queryInt(0, MOST_DISTANCE).default(4).describe('Differing bits of 64'),
  kind: z.enum(['exact', 'image', 'video', 'audio']).optional(),
  acrossLibraries: queryBool.default(false).describe('Compares with files of other libraries too'),
});
export type DuplicatesQuery = z.output<typeof DuplicatesQuery>;

export const DuplicateGroup = z
  .object({
    id: Id,
    kind: z.enum(['exact', 'near']),
    distance: z.int().min(0).max(MOST_DISTANCE).describe('The greatest of its pairs; 0 for equal bytes'),
    members: z.array(
      z.object({
        item: ItemSummary,
        fileId: Id,
        sizeBytes: Bytes.meta({ example: 4_294_967_296 }),
        width: z.int().optional(),
        height: z.int().optional(),
        bitrate: z.int().optional(),
        codec: z.string().optional().meta({ example: 'h264' }),
        durationMs: Milliseconds.optional(),
        addedAt: Timestamp,
        suggestion: z.enum(['keep', 'remove']),
      }),
    ),
    totalBytes: Bytes.meta({ example: 8_589_934_592 }),
    reclaimableBytes: Bytes.meta({ example: 4_294_967_296 }),
  })
  .meta({ id: 'DuplicateGroup' });
export type DuplicateGroup = z.output<typeof DuplicateGroup>;
