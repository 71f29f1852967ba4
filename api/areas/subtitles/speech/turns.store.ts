// A worker's turn with a request: a lease, fenced by the epoch of the claim.
import { changeApart } from '#platform/apart-jobs.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { failLost } from './endings.ts';
import { nextInLine } from './line.store.ts';
import { addPace } from './models.store.ts';
import { type RequestRow, settleBatch, type Word } from './requests.store.ts';

/** A worker that does not renew for so long has lost its request. */
export const LEASE_MS = 6000;
/** So many workers lost at the same stretch fail a request. */
const MOST_LOSSES = 3;
/** Key of the advisory lock under which one worker at a time takes a request. */
const CLAIMING = 0x73_70_65_65;

/** The right to write to a request, until another worker claims it. */
export type Turn = Pick<RequestRow, 'id' | 'epoch'>;

const leaseSql = (db: Db) => db.raw(`now() + interval '${LEASE_MS} milliseconds'`);

/** Takes the next request for a worker; requests of lost workers return to the line first. */
export async function claimRequest(db: Db, worker: { id: string; model: string }): Promise<RequestRow | undefined> {
  return db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(?)', [CLAIMING]);
    await settleLost(trx);
    const id = await nextInLine(trx);
    if (!id) return undefined;
    const [row] = await trx('subtitle_requests')
      .where({ id, state: 'waiting' })
      .update({
        ...{ state: 'running', worker: worker.id, lease_until: leaseSql(trx), not_before: null },
        ...{ epoch: trx.raw('epoch + 1'), attempts: trx.raw('attempts + 1') },
        model: trx.raw('case when heard_ms = 0 then ? else model end', [worker.model]),
        started_at: trx.raw('coalesce(started_at, now())'),
      })
      .returning('*');
    if (!row) return undefined;
    await changeApart(trx, id, { state: 'active', worker: worker.id });
    await settleBatch(trx, row.batch_id);
    return row;
  });
}

/** Returns the requests whose lease ended to the line; the third loss at a stretch fails one. */
async function settleLost(db: Db): Promise<void> {
  const lost = await db('subtitle_requests')
    .where({ state: 'running' })
    .whereRaw('lease_until < now()')
    .forUpdate()
    .skipLocked()
    .select('*');
  for (const row of lost) await loseRequest(db, row);
}

async function loseRequest(db: Db, row: RequestRow): Promise<void> {
  if (row.losses + 1 >= MOST_LOSSES) return failLost(db, row);
  await db('subtitle_requests')
    .where({ id: row.id })
    .update({ state: 'waiting', losses: row.losses + 1, epoch: row.epoch + 1, lease_until: null, worker: null });
  await changeApart(db, row.id, { state: 'waiting' });
}

/** Renews the lease. False when the request is no longer this worker's. */
export async function renewTurn(db: Db, { id, epoch }: Turn): Promise<boolean> {
  const renewed = await db('subtitle_requests')
    .where({ id, epoch, state: 'running' })
    .update({ lease_until: leaseSql(db) });
  return renewed > 0;
}

/** Gives a request back to the line without a loss, perhaps for later. */
export async function returnTurn(db: Db, { id, epoch }: Turn, laterMs = 0): Promise<void> {
  const returned = await db('subtitle_requests')
    .where({ id, epoch, state: 'running' })
    .update({
      ...{ state: 'waiting', lease_until: null, worker: null, epoch: epoch + 1 },
      not_before: laterMs > 0 ? new Date(Date.now() + laterMs) : null,
    });
  if (returned > 0) await changeApart(db, id, { state: 'waiting' });
}

/** Counts a loss at the stretch in hand, because the process that hears ended. */
export async function loseTurn(db: Db, { id, epoch }: Turn): Promise<void> {
  await db.transaction(async (trx) => {
    const row = await trx('subtitle_requests').where({ id, epoch, state: 'running' }).forUpdate().first();
    if (row) await loseRequest(trx, row);
  });
}

export type StretchRow = Row<'subtitle_stretches'>;

/** The checkpoints of a request in order. */
export async function findStretches(db: Db, requestId: string): Promise<StretchRow[]> {
  return db('subtitle_stretches').where({ request_id: requestId }).orderBy('number').select('*');
}

export interface NewStretch {
  number: number;
  fromMs: number;
  toMs: number;
  words: readonly Word[];
  heard: string | undefined;
  /** Seconds of work. */
  seconds: number;
}

/** Commits a checkpoint. False when the request is no longer this worker's. */
export async function keepStretch(db: Db, { id, epoch }: Turn, stretch: NewStretch): Promise<boolean> {
  return db.transaction(async (trx) => {
    const [row] = await trx('subtitle_requests')
      .where({ id, epoch, state: 'running' })
      .update({ heard_ms: stretch.toMs, losses: 0, lease_until: leaseSql(trx) })
      .returning(['duration_ms', 'model']);
    if (!row) return false;
    await trx('subtitle_stretches').insert({
      ...{ request_id: id, number: stretch.number, from_ms: stretch.fromMs, to_ms: stretch.toMs },
      ...{ words: JSON.stringify(stretch.words), heard: stretch.heard ?? null },
    });
    const minutes = (stretch.toMs - stretch.fromMs) / 60_000;
    if (stretch.words.length > 0 && minutes > 0.1) await addPace(trx, row.model, stretch.seconds / minutes);
    await changeApart(trx, id, { progress: Math.min(1, stretch.toMs / Math.max(1, row.duration_ms)) });
    return true;
  });
}

/**
 * Records the language that was heard; `again` starts from the beginning in it. The text takes the language, unless
 * another request for that one is under way. False when the request is no longer this worker's.
 */
export async function setSpoken(
  db: Db,
  { id, epoch }: Turn,
  { language, again }: { language: string; again: boolean },
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const rows = await rowsOf(
      trx,
      `update subtitle_requests r set spoken = :language, spoken_by = 'heard', heard_ms = case when :again then 0 else heard_ms end,
         respoken = respoken or :again,
         language = case when task = 'translate' or exists (select from subtitle_requests o where o.file_id = r.file_id
           and o.task = r.task and o.language = :language and o.id <> r.id and o.state in ('waiting', 'running'))
           then r.language else :language end
       where id = :id and epoch = :epoch and state = 'running' returning id`,
      { language, again, id, epoch } as unknown as unknown[],
    );
    if (again) await trx('subtitle_stretches').where({ request_id: id }).delete();
    return rows.length > 0;
  });
}
