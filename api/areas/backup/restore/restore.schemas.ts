import { z } from 'zod';
import { Bytes, Id, Timestamp } from '#kernel/schemas.ts';
import { Backup } from '../backups.schemas.ts';

const Version = z.object({
  version: z.string().meta({ example: '0.1.0' }),
  schemaVersion: z.string().describe('The newest migration').meta({ example: '20261122150000_backup_create' }),
});
const Names = z.array(z.string()).meta({ example: ['grace'] });
const Counts = z.object({ before: z.int().describe('Now'), after: z.int().describe('In the backup') });

export const RestorePlan = z
  .object({
    backup: Backup,
    from: Version.describe('Of the backup'),
    to: Version.describe('Of this server'),
    migrations: z.int().describe('Migrations that bring it to this version'),
    changes: z.object({
      accounts: z
        .object({
          added: Names,
          removed: Names,
          changed: Names.meta({ example: ['ada'] }),
        })
        .describe('Usernames'),
      libraries: z
        .object({
          added: Names.meta({ example: ['Documentaries'] }),
          removed: Names.meta({ example: ['Home videos'] }),
        })
        .describe('Names'),
      items: Counts,
      playlists: Counts,
    }),
    lostSince: Timestamp.describe('Data written after this moment is lost'),
    objects: z.object({ present: z.int(), toFetch: z.int(), missing: z.int() }),
    sealed: z.object({
      openable: z.int().describe('Sealed values that a key of this server opens'),
      lost: Names.meta({ example: ['webhooks'] }).describe('Values that must be entered again'),
    }),
    endsSessions: z.int(),
    estimatedMs: z.int(),
    closedMs: z.int().describe('Time during which every request is answered with 503'),
    freeBytesNeeded: Bytes.describe('In Postgres'),
    freeBytes: Bytes.nullable().describe('In Postgres; null while unknown').meta({ example: 1099511627776 }),
    blockers: z.array(
      z.object({
        code: z.string().meta({ example: 'no-space' }),
        message: z.string().meta({ example: 'All is well' }),
      }),
    ),
    token: z
      .string()
      .optional()
      .describe('Starts exactly this restore, valid for 30 minutes; absent while there are blockers'),
  })
  .meta({ id: 'RestorePlan' });
export type RestorePlan = z.output<typeof RestorePlan>;

export const Restore = z
  .object({
    backupId: Id,
    state: z.enum(['preparing', 'switching', 'completed', 'failed']),
    progress: z.number().min(0).max(1).meta({ example: 0.24 }),
    phase: z.enum(['fetching', 'loading', 'migrating', 'checking', 'objects', 'switching', 'reopening']),
    startedAt: Timestamp,
    switchedAt: Timestamp.optional(),
    replacedBackupId: Id.optional().describe('The replaced database; restore it to go back'),
    jobId: Id,
    error: z
      .object({ code: z.string(), reason: z.string(), message: z.string().meta({ example: 'All is well' }) })
      .optional(),
  })
  .meta({ id: 'Restore' });
export type Restore = z.output<typeof Restore>;

export const RestoreBackup = z.strictObject({
  dryRun: z.boolean().default(true),
  token: z.string().max(500).optional().describe('Token of the plan; required when dryRun is false'),
  passphrase: z
    .string()
    .max(200)
    .optional()
    .describe("When the kept one is not this backup's")
    .meta({ example: 'seven lanterns over the harbour' }),
});
