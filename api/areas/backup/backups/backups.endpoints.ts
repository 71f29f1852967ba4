import { fullVersion } from '#areas/server/public.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { dropPutAside } from '#platform/backup/put-aside.ts';
import { Backup, BackupDraft, BackupsQuery, backupSorts } from '../backups.schemas.ts';
import { Restore } from '../restore/restore.schemas.ts';
import { lastRestore } from '../restore/restores.store.ts';
import { findPlace, livePlaces } from '../settings/places.store.ts';
import { openPlace } from '../settings/places.ts';
import { readBackupSettings } from '../settings/settings.store.ts';
import { busyWith, findBackup, newestGood, type ShownRow, selectBackups } from './backups.store.ts';
import { buildOf, type Sight, toBackup } from './backups.view.ts';
import { isDownloading } from './downloading.ts';
import { listPlaces } from './listing.ts';
import { noteLoose, removeBackup } from './remove.ts';
import { refuseBackup, requestBackup } from './request.ts';

const access = { permission: 'settings:manage' } as const;
const REFRESH_MS = 60_000;
const REFRESH_LIMIT_MS = 10_000;
const DAY_MS = 86_400_000;

export const listBackups = defineEndpoint({
  operationId: 'listBackups',
  method: 'get',
  path: '/backups',
  summary: 'List backups, the newest first',
  access,
  query: BackupsQuery,
  answer: page(Backup, { restore: Restore.optional() }),

  async handle({ query }, call) {
    const { db, deps } = call;
    const { cursor, limit, sort, state, trigger, refresh } = query;
    if (refresh) await refreshPlaces(call);
    const sight = await sightOf(call);
    const found = await pageOf<ShownRow, Backup>(db, selectBackups(db, { state, trigger }), {
      keys: deps.keys,
      terms: parseSort(sort, backupSorts, '-startedAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listBackups', state, trigger]),
      idColumn: 'b.id',
      toItem: (row) => toBackup(row, sight),
    });
    const restore = await lastRestore(db);
    return { ...found, ...(restore && { restore }) };
  },
});

export const createBackup = defineEndpoint({
  operationId: 'createBackup',
  method: 'post',
  path: '/backups',
  summary: 'Make a backup now; the one that waits or runs is answered instead of a second',
  access,
  body: BackupDraft,
  optionalBody: true,
  answer: json(202, Backup),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, deps, who, now } = call;
    const running = await runningNow(call);
    if (running) return running;
    const setting = { ...deps, version: fullVersion };
    await refuseBackup(setting); // outside the transaction: what it sees of the destination is kept
    const { note, pinned, objects, keepDays } = body ?? { pinned: false };
    const { id, isNew } = await requestBackup(
      { ...setting, db },
      {
        trigger: 'person',
        note,
        pinned,
        objects,
        keepUntil: keepDays === undefined ? undefined : new Date(now.getTime() + keepDays * DAY_MS),
        byAccountId: who.accountId || undefined,
        cause: who.kind === 'key' ? 'key' : 'person',
      },
    );
    if (!isNew) call.reply.status(200);
    else await audit(call, 'backup.requested', { backupId: id, pinned, note });
    return shown(call, id);
  },
});

export const getBackup = defineEndpoint({
  operationId: 'getBackup',
  method: 'get',
  path: '/backups/:id',
  summary: 'A backup, and how far it is',
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
  summary: 'Delete a backup; objects that others share stay',
  access,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    const { db, deps } = call;
    const row = await findBackup(db, params.id);
    if (!row) throw notFound();
    await refuseRemoval(call, row);
    await db('backups').where({ id: row.id }).delete();
    await audit(call, 'backup.deleted', { backupId: row.id, state: row.state });
    const placeIds = [row.place_id, ...row.copies.filter(({ ok }) => ok).map(({ placeId }) => placeId)];
    if (row.state === 'replaced') await dropPutAside(db, row.id);
    if (row.state === 'missing' || row.state === 'replaced') return;
    try {
      for (const placeId of placeIds) {
        await removeBackup(await openPlace({ ...deps, db }, await findPlace(db, placeId)), row.id);
        await noteLoose(db, placeId);
      }
    } catch (error) {
      if (error instanceof DestinationUnavailable)
        throw conflict('destination-unreachable', 'The destination does not answer');
      throw error;
    }
  },
});

/** Throws 409 for what has to stay: in-use, last-good, pinned (which the owner may). */
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

/** What a backup is seen against. */
export async function sightOf({ db }: Pick<Call, 'db'>): Promise<Sight> {
  return { build: buildOf(fullVersion), settings: await readBackupSettings(db) };
}

/** Throws NOT_FOUND. */
export async function shown(call: Call, id: string): Promise<Backup> {
  const row = await findBackup(call.db, id);
  if (!row) throw notFound();
  return toBackup(row, await sightOf(call));
}

async function runningNow(call: Call): Promise<Backup | undefined> {
  const [row] = (await selectBackups(call.db, { state: ['queued', 'running'] }).limit(1)) as ShownRow[];
  if (!row) return undefined;
  call.reply.status(200);
  return toBackup(row, await sightOf(call));
}
