import { z } from 'zod';
import { fullVersion } from '#areas/server/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { findBackup, isRestoring, type ShownRow } from '../backups/backups.store.ts';
import { buildOf, contextOf, toBackup } from '../backups/backups.view.ts';
import type { Stored } from '../backups/stored.ts';
import { changesOf, countSessions, objectsOf, sealedOf } from './compare.ts';
import { type Blocker, blockerOf, estimateMs, type Judged, judge, lostSince, migrationsSince } from './plan.ts';
import { type Planned, planToken, requirePlan } from './plan-token.ts';
import { Restore, RestoreBackup, RestorePlan } from './restore.schemas.ts';
import { putRestore } from './restores.store.ts';

const CLOSED_MS = 15_000;
const NOTHING: RestorePlan['changes'] = {
  accounts: { added: [], removed: [], changed: [] },
  libraries: { added: [], removed: [] },
  items: { before: 0, after: 0 },
  playlists: { before: 0, after: 0 },
};

export const restoreBackup = defineEndpoint({
  operationId: 'restoreBackup',
  method: 'post',
  path: '/backups/:id/restore',
  summary: 'Plan or start a restore',
  description:
    "With `dryRun`, the default, returns 200 with a plan that lists the changes, and writes nothing. Without it, requires the plan's `token` and a recently confirmed session, and returns 202 with the restore, which runs as a job and can be cancelled until it switches the databases. A 409 reports `plan-expired`, `plan-changed`, `blocked` or `restore-running`.",
  access: { owner: true },
  credentials: ['cookie', 'bearer'],
  params: IdParams,
  body: RestoreBackup,
  optionalBody: true,
  answer: json(202, z.union([RestorePlan, Restore])),
  also: [200],
  errors: ['CONFLICT', 'RATE_LIMITED'],

  async handle({ params, body }, call) {
    const row = await findBackup(call.db, params.id);
    if (!row) throw notFound();
    const { dryRun, token, passphrase } = RestoreBackup.parse(body);
    if (!dryRun) requireConfirmed(call.who, call.now);
    const judged = await judge(call, row, passphrase);
    if (!dryRun) return begin(call, { row, judged, token });
    call.reply.status(200);
    return planOf(call, row, judged);
  },
});

const plannedOf = ({ who }: Call, row: ShownRow, { opened }: Judged): Planned => ({
  backupId: row.id,
  manifestSha256: opened?.manifestSha256 ?? null,
  version: fullVersion,
  accountId: who.accountId,
});

interface Beginning {
  row: ShownRow;
  judged: Judged;
  token: string | undefined;
}

async function begin(call: Call, { row, judged, token }: Beginning): Promise<Restore> {
  const planned = plannedOf(call, row, judged);
  requirePlan(call.deps.keys, token, { planned, now: call.now });
  if (await isRestoring(call.db)) throw conflict('restore-running', 'A restore is under way');
  const { blockers, opened } = judged;
  if (blockers.length > 0) throw conflict('blocked', 'The plan has blockers', { blockers });
  const { backupId, manifestSha256, accountId } = planned;
  const order = { backupId, manifestSha256, accountId, passphrase: opened?.passphrase };
  const restore = await putRestore(call.db, call.deps.keys, order);
  await audit(call, 'backup.restore', { backupId, jobId: restore.jobId });
  return restore;
}

async function planOf(call: Call, row: ShownRow, judged: Judged): Promise<RestorePlan> {
  const { db, deps, now } = call;
  const { stored, opened, freeBytesNeeded, freeBytes } = judged;
  const objects = await objectsOf(deps.objects, opened);
  const read = await readStored(call, stored);
  const blockers = [...judged.blockers, ...read.blockers, ...(objects.missing > 0 ? [missing(objects.missing)] : [])];
  const to = buildOf(fullVersion);
  return {
    backup: toBackup(row, await contextOf(call)),
    from: { version: row.server_version, schemaVersion: row.schema_version },
    to,
    migrations: migrationsSince(stored?.schemaVersion ?? row.schema_version),
    changes: read.changes,
    lostSince: lostSince(stored, row),
    objects,
    sealed: read.sealed,
    endsSessions: await countSessions(db),
    estimatedMs: estimateMs(row.rows, row.size_bytes),
    closedMs: CLOSED_MS,
    freeBytesNeeded,
    freeBytes: freeBytes ?? null,
    blockers,
    ...(blockers.length === 0 && { token: planToken(deps.keys, plannedOf(call, row, judged), now) }),
  };
}

const missing = (count: number): Blocker => ({
  code: 'incomplete',
  message: `${count} objects are missing at the destination`,
});

interface Read {
  changes: RestorePlan['changes'];
  sealed: RestorePlan['sealed'];
  blockers: Blocker[];
}

/** Compares the tables of the backup with the live ones; an unreadable table is a blocker. */
async function readStored({ db, deps }: Call, stored: Stored | undefined): Promise<Read> {
  const none = { changes: NOTHING, sealed: { openable: 0, lost: [] } };
  if (!stored) return { ...none, blockers: [] };
  try {
    return { changes: await changesOf(db, stored), sealed: await sealedOf(deps.keys, stored), blockers: [] };
  } catch (error) {
    return { ...none, blockers: [blockerOf(error)] };
  }
}
