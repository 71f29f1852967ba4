import { z } from 'zod';
import { Bytes, Id, Timestamp } from '#kernel/schemas.ts';
import { Backup } from '../backups.schemas.ts';

const Version = z.object({ version: z.string(), schemaVersion: z.string().describe('The newest migration') });
const Names = z.array(z.string());
const Counts = z.object({ before: z.int().describe('Now'), after: z.int().describe('In the backup') });

export const RestorePlan = z
  .object({
    backup: Backup,
    from: Version.describe('Of the backup'),
    to: Version.describe('Of this server'),
    migrations: z.int().describe('That bring it to this version'),
    changes: z.object({
      accounts: z.object({ added: Names, removed: Names, changed: Names }).describe('Usernames'),
      libraries: z.object({ added: Names, removed: Names }).describe('Names'),
      items: Counts,
      playlists: Counts,
    }),
    lostSince: Timestamp.describe('What was written later is gone'),
    objects: z.object({ present: z.int(), toFetch: z.int(), missing: z.int() }),
    sealed: z.object({
      openable: z.int().describe('Sealed values that a key of this server opens'),
      lost: Names.describe('What must be entered again'),
    }),
    endsSessions: z.int(),
    estimatedMs: z.int(),
    closedMs: z.int().describe('Time in which everything answers 503'),
    freeBytesNeeded: Bytes.describe('In Postgres'),
    freeBytes: Bytes.nullable().describe('In Postgres; null where nobody knows'),
    blockers: z.array(z.object({ code: z.string(), message: z.string() })),
    token: z
      .string()
      .optional()
      .describe('To restore exactly this within 30 minutes; absent while something blocks it'),
  })
  .meta({ id: 'RestorePlan' });
export type RestorePlan = z.output<typeof RestorePlan>;

export const Restore = z
  .object({
    backupId: Id,
    state: z.enum(['preparing', 'switching', 'completed', 'failed']),
    progress: z.number().min(0).max(1),
    phase: z.enum(['fetching', 'loading', 'migrating', 'checking', 'objects', 'switching', 'reopening']),
    startedAt: Timestamp,
    switchedAt: Timestamp.optional(),
    replacedBackupId: Id.optional().describe('The database that it put aside: restoring that is the way back'),
    jobId: Id,
    error: z.object({ code: z.string(), reason: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'Restore' });
export type Restore = z.output<typeof Restore>;

export const RestoreBackup = z.strictObject({
  dryRun: z.boolean().default(true),
  token: z.string().max(500).optional().describe('Of the plan, when dryRun is false'),
  passphrase: z.string().max(200).optional().describe("When the kept one is not this backup's"),
});
