import { z } from 'zod';
import { CronText } from '#kernel/cron.ts';
import { pageQuery } from '#kernel/page.ts';
import { Bytes, commaList, Id, queryBool, RelativePath, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';

export const BackupState = z.enum([
  'queued',
  'running',
  'completed',
  'verified',
  'failed',
  'cancelled',
  'damaged',
  'missing',
  'replaced',
]);
export type BackupState = z.output<typeof BackupState>;
export const BackupTrigger = z.enum(['person', 'schedule', 'before-restore', 'before-upgrade', 'found']);
export type BackupTrigger = z.output<typeof BackupTrigger>;

const PlaceKind = z.enum(['builtin', 's3', 'storage']);
export type PlaceKind = z.output<typeof PlaceKind>;
export const ObjectsMode = z.enum(['kept', 'all']);
export const VerifyDepth = z.enum(['checksums', 'load']);
const Share = z.number().min(0).max(1);

export const BackupVerification = z
  .object({
    at: Timestamp,
    ok: z.boolean(),
    depth: VerifyDepth,
    tables: z.object({ checked: z.int(), rows: z.int() }).optional().describe('With depth load'),
    objects: z.object({ checked: z.int(), missing: z.int(), differing: z.int() }),
    tookMs: z.int(),
    problems: z
      .array(z.object({ code: z.string(), name: z.string().meta({ example: 'Films' }) }))
      .max(50)
      .describe('The first 50'),
  })
  .meta({ id: 'BackupVerification' });
export type BackupVerification = z.output<typeof BackupVerification>;

export const NotRestorable = z.enum(['newer-version', 'wrong-passphrase', 'damaged', 'incomplete', 'other-format']);

export const Backup = z
  .object({
    id: Id,
    state: BackupState,
    trigger: BackupTrigger,
    progress: Share.optional().describe('While it runs').meta({ example: 0.24 }),
    phase: z.enum(['snapshot', 'dump', 'objects', 'manifest', 'copy']).optional().describe('While it runs'),
    destination: z.object({ kind: PlaceKind, name: z.string().meta({ example: 'Films' }) }),
    copies: z.array(z.object({ name: z.string().meta({ example: 'Films' }), ok: z.boolean(), at: Timestamp })),
    serverId: z.uuid(),
    serverName: z.string().meta({ example: 'Home' }),
    serverVersion: z.string().meta({ example: '0.1.0' }),
    schemaVersion: z
      .string()
      .describe('The newest migration that had run')
      .meta({ example: '20261122150000_backup_create' }),
    database: z.object({
      tables: z.int(),
      rows: z.int(),
      sizeBytes: Bytes.describe('As it is stored').meta({ example: 4294967296 }),
      at: Timestamp.nullable().describe('The moment of the snapshot'),
    }),
    objects: z.object({
      mode: ObjectsMode,
      count: z.int().meta({ example: 12 }),
      sizeBytes: Bytes.meta({ example: 4294967296 }),
      newBytes: Bytes.describe('Not at the destination before'),
    }),
    sizeBytes: Bytes.meta({ example: 4294967296 }),
    encrypted: z.boolean(),
    verification: BackupVerification.optional(),
    restorable: z.boolean(),
    notRestorableReason: NotRestorable.optional(),
    pinned: z.boolean(),
    keepUntil: Timestamp.optional(),
    note: z.string().optional().meta({ example: 'Before the new disks' }),
    jobId: Id.optional(),
    byUserId: Id.optional(),
    error: z
      .object({
        code: z.string(),
        reason: z.string(),
        message: z.string().meta({ example: 'It did not answer in time' }),
      })
      .optional(),
    startedAt: Timestamp,
    finishedAt: Timestamp.optional(),
  })
  .meta({ id: 'Backup' });
export type Backup = z.output<typeof Backup>;

export const backupSorts: SortTable = {
  startedAt: { column: 'b.started_at', type: 'timestamptz' },
  sizeBytes: { column: 'b.size_bytes', type: 'bigint' },
};

export const BackupsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(backupSorts),
  state: commaList(BackupState, 9).optional(),
  trigger: BackupTrigger.optional(),
  refresh: queryBool.default(false).describe('List the destinations first; at most once a minute'),
});

export const BackupDraft = z.strictObject({
  note: z.string().trim().max(200).optional().meta({ example: 'Before the new disks' }),
  pinned: z.boolean().default(false).describe('Never deleted by the keeping rules'),
  objects: ObjectsMode.optional(),
  keepDays: z.int().min(1).max(3650).optional(),
});
export type BackupDraft = z.output<typeof BackupDraft>;

export const VerifyBackup = z.strictObject({
  depth: VerifyDepth.default('load'),
  passphrase: z
    .string()
    .max(200)
    .optional()
    .describe("When the kept one is not this backup's")
    .meta({ example: 'seven lanterns over the harbour' }),
});

const Kept = z.int().min(0).max(1000);
export const Keep = z.object({ last: Kept, daily: Kept, weekly: Kept, monthly: Kept });
export type Keep = z.output<typeof Keep>;

const Endpoint = z
  .url({ protocol: /^https?$/ })
  .max(300)
  .refine((text) => URL.canParse(text) && !new URL(text).username && !new URL(text).password, {
    error: 'credentials do not belong in an address',
    params: { code: 'credentials' },
  });
const S3 = z.object({
  endpoint: Endpoint.meta({ example: 'https://s3.example' }),
  region: z.string().max(60).meta({ example: 'eu-west-1' }),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
    .meta({ example: 'home-backups' }),
  prefix: z.string().max(200).optional().meta({ example: 'foyer' }),
  pathStyle: z.boolean(),
  accessKeyId: z.string().min(1).max(200).meta({ example: 'AKHOME' }),
});
const Folder = z.object({
  storageId: Id,
  path: RelativePath.meta({ example: 'Backups' }),
});

export const BackupDestination = z
  .object({
    kind: PlaceKind,
    s3: S3.extend({ secretSet: z.boolean() }).optional(),
    storage: Folder.optional(),
    freeBytes: Bytes.optional().describe('Absent while unknown').meta({ example: 1099511627776 }),
    state: z.enum(['ok', 'unreachable', 'read-only', 'full']),
    stateReason: z.string().optional().meta({ example: 'it did not answer in time' }),
  })
  .meta({ id: 'BackupDestination' });
export type BackupDestination = z.output<typeof BackupDestination>;

export const warnings = ['same-place', 'not-encrypted', 'never-verified', 'overdue', 'no-passphrase-copy'] as const;
export type BackupWarning = (typeof warnings)[number];

export const BackupSettings = z
  .object({
    enabled: z.boolean(),
    cron: CronText.meta({ example: '30 3 * * *' }),
    keep: Keep,
    beforeUpgrade: z.boolean(),
    objects: ObjectsMode,
    verifyCron: CronText.meta({ example: '0 5 * * 0' }),
    destination: BackupDestination,
    copyTo: BackupDestination.optional(),
    encryption: z.object({
      mode: z.enum(['none', 'passphrase']),
      passphraseSet: z.boolean(),
      fingerprint: z.string().optional().meta({ example: '3f9a01bc' }),
    }),
    maxBytesPerSecond: z.int().optional(),
    nextRunAt: Timestamp.optional(),
    lastCompleted: z.object({ id: Id, at: Timestamp, sizeBytes: Bytes.meta({ example: 4294967296 }) }).optional(),
    warnings: z.array(z.enum(warnings)),
    managedFields: z.array(z.string()).optional().describe('Fields that the resource declares'),
    revision: z.int(),
  })
  .meta({ id: 'BackupSettings' });
export type BackupSettings = z.output<typeof BackupSettings>;

/** A destination in a request; exactly the member of its kind is given. */
export const PlaceDraft = z
  .strictObject({
    kind: PlaceKind,
    s3: z
      .strictObject({
        ...S3.shape,
        region: z.string().max(60).default('us-east-1').meta({ example: 'eu-west-1' }),
        pathStyle: z.boolean().default(true),
      })
      .optional(),
    storage: z.strictObject(Folder.shape).optional(),
    secretAccessKey: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Required for a new destination')
      .meta({ example: 'of-the-bucket' }),
  })
  .refine(
    ({ kind, s3, storage }) =>
      (kind === 's3') === (s3 !== undefined) && (kind === 'storage') === (storage !== undefined),
    {
      error: 'exactly the part of its kind',
      params: { code: 'one_of' },
    },
  );
export type PlaceDraft = z.output<typeof PlaceDraft>;

export const BackupSettingsChange = z.strictObject({
  enabled: z.boolean().optional(),
  cron: CronText.optional().meta({ example: '30 3 * * *' }),
  keep: z.strictObject(Keep.partial().shape).optional(),
  beforeUpgrade: z.boolean().optional(),
  objects: ObjectsMode.optional(),
  verifyCron: CronText.optional().meta({ example: '0 5 * * 0' }),
  destination: PlaceDraft.optional(),
  copyTo: PlaceDraft.nullable().optional(),
  encryption: z
    .strictObject({
      mode: z.enum(['none', 'passphrase']),
      passphrase: z.string().min(12).max(200).optional().meta({ example: 'seven lanterns over the harbour' }),
    })
    .optional(),
  maxBytesPerSecond: z
    .int()
    .min(65_536)
    .max(2 ** 40)
    .nullable()
    .optional()
    .describe('null for no limit'),
});
export type BackupSettingsChange = z.output<typeof BackupSettingsChange>;
