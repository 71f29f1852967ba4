import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import { commaList, Id, Milliseconds, RelativePath, Timestamp } from '#kernel/schemas.ts';

export const scanStates = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
const Mode = z.enum(['quick', 'full', 'deep']);
const Trigger = z.enum([
  'person',
  'key',
  'schedule',
  'watch',
  'folder-added',
  'storage-returned',
  'resource',
  'upload',
]);

export const ScanCounts = z
  .object({
    directories: z.int(),
    directoriesSkipped: z.int().describe('With an unchanged modification time (quick)'),
    found: z.int().describe('Media files'),
    total: z.int().describe('Files found so far').meta({ example: 1 }),
    done: z.int(),
    unchanged: z.int(),
    added: z.int(),
    updated: z.int(),
    moved: z.int(),
    returned: z.int(),
    missing: z.int(),
    unreadable: z.int(),
    ignored: z.int(),
    probed: z.int(),
  })
  .meta({ id: 'ScanCounts' });
export type ScanCounts = z.output<typeof ScanCounts>;

export const ScanFolder = z
  .object({
    folderId: Id,
    state: z.enum(['waiting', 'listing', 'listed', 'skipped', 'interrupted', 'held']),
    reason: z
      .enum([
        'storage-unavailable',
        'storage-suspect',
        'storage-disabled',
        'empty-root',
        'guard',
        'epoch-changed',
        'cancelled',
      ])
      .optional(),
    files: z.int(),
    missing: z.int(),
  })
  .meta({ id: 'ScanFolder' });

export const ScanGuard = z
  .object({
    decision: z.enum(['pending', 'apply', 'keep']),
    wouldMiss: z.int(),
    ofTotal: z.int(),
    percent: z.int(),
    folderIds: z.array(Id),
    sample: z.array(ItemSummary).max(20),
    decidedBy: Id.optional(),
    decidedAt: Timestamp.optional(),
  })
  .meta({
    id: 'ScanGuard',
    description: 'A guard against mass removal: while it is pending, none of these files is marked as missing',
  });

export const ScanIssue = z
  .object({
    kind: z.enum([
      'unreadable',
      'corrupt',
      'unrecognised-name',
      'name-conflict',
      'too-long-path',
      'bad-encoding',
      'probe-timeout',
      'bad-sidecar',
      'unsafe-archive',
      'link-outside',
    ]),
    folderId: Id,
    path: z.string().describe('Inside the storage').meta({ example: 'Films/Nosferatu (1922)/Nosferatu (1922).mkv' }),
    detail: z.string().optional(),
    itemId: Id.optional(),
    at: Timestamp,
  })
  .meta({ id: 'ScanIssue' });
export type ScanIssue = z.output<typeof ScanIssue>;

const Target = z.strictObject({
  folderId: Id,
  path: RelativePath.optional()
    .describe('Relative to the folder')
    .meta({ example: 'Films/Nosferatu (1922)/Nosferatu (1922).mkv' }),
});

export const Scan = z
  .object({
    id: Id,
    libraryId: Id,
    state: z.enum(scanStates),
    mode: Mode,
    trigger: Trigger,
    byUserId: Id.optional().describe('With library:manage'),
    phase: z.enum(['listing', 'comparing', 'probing', 'identifying', 'finishing']).optional(),
    counts: ScanCounts,
    folders: z.array(ScanFolder),
    guard: ScanGuard.optional(),
    targets: z
      .array(
        z.object({
          folderId: Id,
          path: z.string().optional().meta({ example: 'Films/Nosferatu (1922)/Nosferatu (1922).mkv' }),
        }),
      )
      .optional()
      .describe('With library:manage'),
    issueCount: z.int(),
    issues: z.array(ScanIssue).max(500).optional().describe('include=issues, with library:manage'),
    resumes: z.int().describe('Number of times that another worker resumed it'),
    remainingMs: Milliseconds.optional(),
    error: z
      .object({
        code: z.string(),
        reason: z.string(),
        message: z.string().meta({ example: 'It did not answer in time' }),
      })
      .optional(),
    queuedAt: Timestamp,
    startedAt: Timestamp.optional(),
    finishedAt: Timestamp.optional(),
    durationMs: Milliseconds.optional().meta({ example: 5640000 }),
  })
  .meta({ id: 'Scan' });
export type Scan = z.output<typeof Scan>;

export const StartScan = z.strictObject({
  mode: Mode.default('quick'),
  folders: z.array(Target).min(1).max(100).optional(),
  includeIgnored: z.boolean().default(false).describe('Remove the ignore marks of purged and deleted items'),
});
export type StartScan = z.output<typeof StartScan>;

export const scanSorts = {
  queuedAt: { column: 's.queued_at', type: 'timestamptz', descends: true },
  durationMs: {
    column: 'extract(epoch from s.finished_at - s.started_at)::double precision',
    type: 'double precision',
    nullable: true,
  },
} as const satisfies SortTable;

export const ScansQuery = z.object({
  ...pageQuery,
  sort: sortQuery(scanSorts),
  libraryId: Id.optional(),
  state: commaList(z.enum(scanStates), 5).optional(),
  trigger: Trigger.optional(),
  guard: z.enum(['pending']).optional(),
});
export type ScansQuery = z.output<typeof ScansQuery>;

export const ScanQuery = z.object({ include: commaList(z.enum(['issues']), 1).optional() });

export const ScanDecision = z.strictObject({ decision: z.enum(['apply', 'keep']) });
