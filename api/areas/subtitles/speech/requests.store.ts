// Requests for subtitles from speech.
import { type ApartJob, addApart, changeApart } from '#platform/apart-jobs.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import { giveBackUse } from '../allowance/uses.store.ts';
import { removeKept } from '../kept/remove.ts';
import type { GenerationRequest } from './speech.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'subtitle_requests.error': NonNullable<GenerationRequest['error']>;
    'subtitle_stretches.words': Word[];
  }
}

/** A word that was heard, on the film's clock. */
export interface Word {
  startMs: number;
  endMs: number;
  text: string;
}

export type RequestRow = Row<'subtitle_requests'>;

/** A soundtrack with the text that is to be made of it. */
export interface NewRequest {
  itemId: string;
  libraryId: string;
  fileId: string;
  audio: { id: string; index: number };
  durationMs: number;
  task: RequestRow['task'];
  model: string;
  language: string;
  spoken: string | undefined;
  spokenBy: RequestRow['spoken_by'];
}

export interface Asking {
  accountId: string;
  useId?: string | undefined;
  batchId?: string | undefined;
}

const AT_ONCE = 1000;

/**
 * Adds requests with their jobs in the caller's transaction. Returns the ids of those that were added: one for the same
 * file, language and task that waits or runs stays instead.
 */
export async function insertRequests(db: Db, wanted: readonly NewRequest[], asking: Asking): Promise<string[]> {
  const added: string[] = [];
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    const rows = wanted.slice(from, from + AT_ONCE).map((one, i) => rowOf(one, asking, from + i));
    const kept = await db('subtitle_requests')
      .insert(rows)
      .onConflict(db.raw(`(file_id, language, task) where state in ('waiting', 'running')`))
      .ignore()
      .returning('id');
    const ids = new Set(kept.map(({ id }) => id));
    await addApart(
      db,
      rows.flatMap((row, i) => (ids.has(row.id) ? [jobOf(row, wanted[from + i]?.libraryId, asking)] : [])),
    );
    added.push(...ids);
  }
  return added;
}

function rowOf(wanted: NewRequest, { accountId, useId, batchId }: Asking, place: number) {
  const { itemId, fileId, audio, durationMs, task, model, language, spoken, spokenBy } = wanted;
  return {
    ...{ id: newId(), item_id: itemId, file_id: fileId, audio_stream_id: audio.id, audio_index: audio.index },
    ...{ task, model, language, spoken: spoken ?? null, spoken_by: spokenBy, duration_ms: durationMs },
    ...{ account_id: accountId, use_id: useId ?? null, batch_id: batchId ?? null, place: batchId ? place : null },
  };
}

function jobOf(row: { id: string; item_id: string }, libraryId: string | undefined, asking: Asking): ApartJob {
  const target = { kind: 'item', id: row.item_id };
  const { accountId: byAccountId, batchId: parentId } = asking;
  return { id: row.id, kind: 'subtitles.generate', target, byAccountId, libraryId, parentId };
}

/** The request for the same text that waits or runs. */
export async function findOpenRequest(
  db: Db,
  wanted: Pick<NewRequest, 'fileId' | 'language' | 'task'>,
): Promise<RequestRow | undefined> {
  return db('subtitle_requests')
    .where({ file_id: wanted.fileId, language: wanted.language, task: wanted.task })
    .whereIn('state', ['waiting', 'running'])
    .first();
}

/** Single requests of an account that wait. */
export async function countWaitingOf(db: Db, accountId: string): Promise<number> {
  const rows = await db('subtitle_requests')
    .where({ account_id: accountId, batch_id: null, state: 'waiting' })
    .select('id')
    .limit(100);
  return rows.length;
}

/** A request with a lock on it. */
export async function lockRequest(db: Db, id: string): Promise<RequestRow | undefined> {
  return db('subtitle_requests').where({ id }).forUpdate().first();
}

/** Cancels a request that waits or runs; its checkpoints go. */
export async function cancelRequest(db: Db, row: RequestRow, { giveBack }: { giveBack: boolean }): Promise<void> {
  await db('subtitle_requests')
    .where({ id: row.id })
    .update({ state: 'cancelled', finished_at: db.fn.now(), lease_until: null, epoch: row.epoch + 1 });
  await db('subtitle_stretches').where({ request_id: row.id }).delete();
  if (giveBack && row.use_id) await giveBackUse(db, row.use_id);
  await changeApart(db, row.id, { state: 'cancelled' });
  await settleBatch(db, row.batch_id);
}

/** Forgets an ended request, with the subtitle that it made. Returns whether there was one. */
export async function forgetRequest(db: Db, row: RequestRow): Promise<boolean> {
  if (row.stream_id) await removeKept(db, { fileId: row.file_id, streamId: row.stream_id });
  await db('subtitle_requests').where({ id: row.id }).delete();
  return row.stream_id !== null;
}

/** Records the progress of a batch, and its end after that of its last request. */
export async function settleBatch(db: Db, batchId: string | null): Promise<void> {
  if (!batchId) return;
  await db('subtitle_batches').where({ id: batchId }).forNoKeyUpdate().first('id');
  const { rows } = await db.raw<{ rows: { total: number; ended: number; cancelled: number }[] }>(
    `select count(*)::int as total, count(*) filter (where state not in ('waiting', 'running'))::int as ended,
       count(*) filter (where state = 'cancelled')::int as cancelled from subtitle_requests where batch_id = ?`,
    [batchId],
  );
  const { total = 0, ended = 0, cancelled = 0 } = rows[0] ?? {};
  const over = cancelled === total ? 'cancelled' : 'completed';
  const state = ended === total ? over : 'active';
  await changeApart(db, batchId, { state, progress: total === 0 ? 1 : ended / total });
}
