import { fullVersion } from '#areas/server/public.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { dropPutAside } from '#platform/backup/put-aside.ts';
import { Backup, BackupDraft, BackupsQuery, backupSorts } from '../backups.schemas.ts';
import { Restore } from '../restore/restore.schemas.ts';
import { lastRestore } from '../restore/restores.store.ts';
import { livePlaces } from '../settings/places.store.ts';
import { busyWith, deleteBackupRow, findBackup, newestGood, type ShownRow, selectBackups } from './backups.store.ts';
import { contextOf, shown, toBackup } from './backups.view.ts';
import { isDownloading } from './downloading.ts';
import { listPlaces } from './listing.ts';
import { removeFiles } from './remove.ts';
import { type BackupOptions, refuseBackup, requestBackup } from './request.ts';

const access = { permission: 'settings:manage' } as const;
const REFRESH_MS = 60_000;
const REFRESH_LIMIT_MS = 10_000;
const DAY_MS = 86_400_000;

export const listBackups = defineEndpoint({
  operationId: 'listBackups',
  method: 'get',
  path: '/backups',
  summary: 'List backups',
  description:
    'Newest first by default. The answer also contains the restore that runs or the last one. With `refresh` the destinations are listed again, at most once a minute; the state of a destination that is unreachable is shown in the backup settings.',
  access,
  query: BackupsQuery,
  answer: page(Backup, { restore: Restore.optional() }),

  async handle({ query }, call) {
    const { db, deps } = call;
    const { cursor, limit, sort, state, trigger, refresh } = query;
    if (refresh) await refreshPlaces(call);
    const context = await contextOf(call);
    const found = await pageOf<ShownRow, Backup>(db, selectBackups(db, { state, trigger }), {
      keys: deps.keys,
      terms: parseSort(sort, backupSorts, '-startedAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listBackups', state, trigger]),
      idColumn: 'b.id',
      toItem: (row) => toBackup(row, context),
    });
    const restore = await lastRestore(db);
    return { ...found, ...(restore && { restore }) };
  },
});

export const createBackup = defineEndpoint({
  operationId: 'createBackup',
  method: 'post',
  path: '/backups',
  summary: 'Create a backup',
  description:
    'Starts the job `backup.create` and returns the queued backup; its progress is shown by getBackup and by the job. While a backup is queued or running, that one is returned with 200 instead. The keeping rules never delete a pinned backup. A 409 reports `no-space`, `destination-unreachable`, `encryption-required` or `restore-running`.',
  access,
  body: BackupDraft,
  optionalBody: true,
  answer: json(202, Backup),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, deps } = call;
    const running = await runningNow(call);
    if (running) return running;
    const setting = { ...deps, version: fullVersion };
    await refuseBackup(setting); // outside the transaction: what it records about the destination is kept
    const draft = body ?? { pinned: false };
    const { id, isNew } = await requestBackup({ ...setting, db }, optionsOf(call, draft));
    if (!isNew) call.reply.status(200);
    else await audit(call, 'backup.requested', { backupId: id, pinned: draft.pinned, note: draft.note });
    return shown(call, id);
  },
});

function optionsOf({ who, now }: Call, { keepDays, ...options }: BackupDraft): BackupOptions {
  return {
    ...options,
    trigger: 'person',
    keepUntil: keepDays === undefined ? undefined : new Date(now.getTime() + keepDays * DAY_MS),
    byAccountId: who.accountId || undefined,
    cause: who.kind === 'key' ? 'key' : 'person',
  };
}

export const getBackup = defineEndpoint({
  operationId: 'getBackup',
  method: 'get',
  path: '/backups/:id',
  summary: 'Get a backup',
  description: 'Returns its state, and its progress while it runs. Poll with the ETag.',
  access,
  params: IdParams,
  answer: json(200, Backup),

  async handle({ params }, call) {
    return answerUnlessSame(call, await shown(call, params.id));
  },
});

export const deleteBackup = defineEndpoint({
  operationId: 'deleteBackup',
  method: 'delete',
  path: '/backups/:id',
  summary: 'Delete a backup',
  description:
    'Objects that other backups share stay at the destination. A 409 reports `last-good` for the newest good backup, `pinned` unless the caller is the owner, `in-use` while it is created, verified, downloaded or restored, or `destination-unreachable`.',
  access,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    const { db, deps } = call;
    const row = await findBackup(db, params.id);
    if (!row) throw notFound();
    await refuseRemoval(call, row);
    await deleteBackupRow(db, row.id);
    await audit(call, 'backup.deleted', { backupId: row.id, state: row.state });
    if (row.state === 'replaced') await dropPutAside(db, row.id);
    else if (row.state !== 'missing') await removeFiles({ ...deps, db }, row);
  },
});

/** Throws 409 `in-use`, `last-good`, or `pinned` unless the caller is the owner. */
async function refuseRemoval({ db, deps, who }: Call, row: ShownRow): Promise<void> {
  const busy = (await busyWith(db, row.id)).length > 0 || (await isDownloading(deps.redis, row.id));
  if (busy) throw conflict('in-use', 'It is being made, verified, downloaded or restored');
  if ((await newestGood(db))?.id === row.id) throw conflict('last-good', 'It is the newest good backup');
  const isOwner = who.kind === 'session' && who.role === 'owner';
  if (row.pinned && !isOwner) throw conflict('pinned', 'Only the owner deletes a pinned backup');
}

async function refreshPlaces({ db, deps, now }: Call): Promise<void> {
  const places = await livePlaces(db);
  const late = places.some(({ listed_at: at }) => !at || now.getTime() - at.getTime() > REFRESH_MS);
  if (late) await listPlaces({ ...deps, db }, REFRESH_LIMIT_MS);
}

async function runningNow(call: Call): Promise<Backup | undefined> {
  const [row] = await selectBackups(call.db, { state: ['queued', 'running'] }).limit(1);
  if (!row) return undefined;
  call.reply.status(200);
  return toBackup(row, await contextOf(call));
}
