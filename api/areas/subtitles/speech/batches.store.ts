// Batches of requests, and the episodes of the items that they name.
import { visibleItems } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import { addApart, changeApart } from '#platform/apart-jobs.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { GenerationState } from './speech.schemas.ts';

export type BatchRow = Row<'subtitle_batches'>;

/** A batch is known for so long. */
const KNOWN = '90 days';

export async function insertBatch(
  db: Db,
  batch: { accountId: string; language: string | undefined; task: BatchRow['task']; force: boolean },
): Promise<BatchRow> {
  const { accountId, language, task, force } = batch;
  const id = newId();
  const rows = await db('subtitle_batches')
    .insert({ id, account_id: accountId, language: language ?? null, task, force })
    .returning('*');
  await addApart(db, [{ id, kind: 'subtitles.batch', byAccountId: accountId }]);
  return rows[0] as BatchRow;
}

/** A batch with a lock on it. */
export async function lockBatch(db: Db, id: string): Promise<BatchRow | undefined> {
  return db('subtitle_batches').where({ id }).whereRaw(`created_at > now() - interval '${KNOWN}'`).forUpdate().first();
}

/** Cancels what waits and runs of a batch, with the jobs. */
export async function cancelBatch(db: Db, id: string): Promise<void> {
  const open = await db('subtitle_requests')
    .where({ batch_id: id })
    .whereIn('state', ['waiting', 'running'])
    .orderBy('id')
    .forUpdate()
    .pluck('id');
  const ids = [[...open]];
  await db.raw(
    `update subtitle_requests set state = 'cancelled', finished_at = now(), lease_until = null, epoch = epoch + 1
     where id = any(?::uuid[])`,
    ids,
  );
  await db.raw('delete from subtitle_stretches where request_id = any(?::uuid[])', ids);
  for (const request of open) await changeApart(db, request, { state: 'cancelled' });
  await changeApart(db, id, { state: 'cancelled' });
}

export interface BatchCounts {
  states: Record<GenerationState, number>;
  total: number;
  /** Sound still to be heard, ms. */
  leftMs: number;
}

/** Requests of a batch by state. */
export async function countBatch(db: Db, id: string): Promise<BatchCounts> {
  const { rows } = await db.raw<{ rows: { state: GenerationState; n: number; left_ms: number }[] }>(
    `select state, count(*)::int as n,
       coalesce(sum(duration_ms - heard_ms) filter (where state in ('waiting', 'running')), 0)::bigint as left_ms
     from subtitle_requests where batch_id = ? group by state`,
    [id],
  );
  const states = { waiting: 0, running: 0, finished: 0, failed: 0, cancelled: 0 };
  for (const { state, n } of rows) states[state] = n;
  const sum = (read: (row: (typeof rows)[number]) => number): number => rows.reduce((all, row) => all + read(row), 0);
  return { states, total: sum(({ n }) => n), leftMs: sum(({ left_ms: ms }) => Number(ms)) };
}

/** An item that is heard itself, or a container that was named. */
export interface NamedItem {
  id: string;
  type: string;
}

/** The named items in their order, those that the caller sees. */
export async function findNamed(db: Db, who: Principal, ids: readonly string[]): Promise<NamedItem[]> {
  const rows = (await visibleItems(db, who)
    .whereRaw('i.id = any(?::uuid[])', [[...ids]])
    .select('i.id', 'i.type')) as NamedItem[];
  const order = new Map(ids.map((id, i) => [id, i]));
  return rows.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
}

/** Episodes in these seasons and shows that the caller sees, by container in show order, at most `most`. */
export async function findEpisodes(
  db: Db,
  who: Principal,
  { containers, most }: { containers: readonly string[]; most: number },
): Promise<string[]> {
  return visibleItems(db, who)
    .joinRaw(
      'join unnest(?::uuid[]) with ordinality as named(id, place) on named.id in (i.parent_id, i.grandparent_id)',
      [[...containers]] as unknown as string[],
    )
    .where('i.type', 'episode')
    .whereNull('i.extra_of')
    .orderByRaw('named.place, i.parent_index nulls last, i.index_number nulls last, i.id')
    .limit(most)
    .pluck('i.id') as Promise<string[]>;
}
