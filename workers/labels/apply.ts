import { z } from 'zod';
import { itemsMatching } from '#areas/items/public.ts';
import { changeItems, listedWith, relabel } from '#areas/labels/public.ts';
import { principalOf } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { FinalFailure, type Handler, type Work } from '../work.ts';

type Filter = NonNullable<JobPayload<'labels.apply'>['filter']>;

const Checkpoint = z.object({
  after: z.uuid(),
  /** Number of changed items. */
  done: z.int(),
  /** Number of items examined, among those that matched the filter at first. */
  seen: z.int().default(0),
  total: z.int().optional(),
});
const FIRST = '00000000-0000-0000-0000-000000000000';
const BATCH = 2000;

/** Labels all items that match a filter, or removes a deleted label; resumes from its checkpoint. */
export const applyLabels: Handler<'labels.apply'> = ({ number, filter }, work) =>
  filter ? apply(work, number, filter) : forget(work, number);

async function apply(work: Work, number: number, filter: Filter): Promise<{ changed: number }> {
  const who = await principalOf(work.db, filter.accountId);
  if (!who) throw new FinalFailure('NOT_FOUND', 'The account that requested it is gone');
  const kept = Checkpoint.safeParse(work.checkpoint).data;
  let { after, done, seen } = kept ?? { after: FIRST, done: 0, seen: 0 };
  const total = kept?.total ?? (await countMatching(work, who, filter));
  for (;;) {
    work.signal.throwIfAborted();
    const { query } = await itemsMatching(
      { db: work.db, who, now: new Date(), deps: work },
      filter.libraryId,
      filter.filter,
    );
    const ids = (await query.where('i.id', '>', after).orderBy('i.id').limit(BATCH).pluck('i.id')) as string[];
    const last = ids.at(-1);
    if (last === undefined) return { changed: done };
    done += await work.db.transaction(async (db) => {
      const changed = await step(db, { number, ids, action: filter.action });
      const units = { done: seen + ids.length, total: Math.max(total, seen + ids.length), unit: 'items' as const };
      await work.keep(db, { after: last, done: done + changed, seen: units.done, total }, units);
      return changed;
    });
    after = last;
    seen += ids.length;
  }
}

async function countMatching(work: Work, who: Principal, { libraryId, filter }: Filter): Promise<number> {
  const { query } = await itemsMatching({ db: work.db, who, now: new Date(), deps: work }, libraryId, filter);
  const [row] = await work.db.from(query.select('i.id').as('some')).count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

/** A label that was deleted in the meantime is on no item any more. */
async function step(
  db: Db,
  { number, ids, action }: { number: number; ids: string[]; action: 'add' | 'remove' },
): Promise<number> {
  const label = await db('labels').where({ number }).forShare().first('number');
  if (!label) throw new FinalFailure('NOT_FOUND', 'The label is gone');
  const lists = action === 'add' ? { add: ids, remove: [] } : { add: [], remove: ids };
  const { added, removed } = await changeItems(db, number, lists);
  return added + removed;
}

async function forget({ db, signal }: Work, number: number): Promise<{ changed: number }> {
  for (let changed = 0; ; ) {
    signal.throwIfAborted();
    const ids = await listedWith(db, number, BATCH);
    if (ids.length === 0) return { changed };
    await db.transaction((transaction) => relabel(transaction, ids, async () => undefined));
    changed += ids.length;
  }
}
