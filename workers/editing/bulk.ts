import { z } from 'zod';
import { changeSome, dropChange, findChange, sliceOf } from '#areas/editing/public.ts';
import { principalOf } from '#identity/account-row.ts';
import { FinalFailure, type Handler } from '../work.ts';

const Checkpoint = z.object({ done: z.int(), changed: z.int(), refused: z.int(), events: z.int() });
const BATCH = 500;
const EVENTS = 100;

/** Applies a bulk change to the items that matched when it was requested; resumes from its checkpoint. */
export const changeInBulk: Handler<'items.bulk'> = async ({ changeId }, work) => {
  const kept = await findChange(work.db, changeId);
  if (!kept) return { changed: 0, refused: 0 };
  const who = await principalOf(work.db, kept.accountId);
  if (!who) throw new FinalFailure('NOT_FOUND', 'The account that requested it is gone');
  const place = { language: work.settings.get('server.language'), country: work.settings.get('server.country') };
  let state = Checkpoint.safeParse(work.checkpoint).data ?? { done: 0, changed: 0, refused: 0, events: EVENTS };
  for (;;) {
    work.signal.throwIfAborted();
    const ids = await sliceOf(work.db, changeId, { from: state.done, most: BATCH });
    if (ids.length === 0) break;
    const before = state;
    state = await work.db.transaction(async (db) => {
      const { changed, refused } = await changeSome(db, ids, {
        who,
        place,
        change: kept.change,
        events: before.events,
        enqueue: (name, payload, options) => work.enqueue(db, name, { payload, ...(options && { options }) }),
      });
      const next = {
        done: before.done + ids.length,
        changed: before.changed + changed,
        refused: before.refused + refused.length,
        events: Math.max(0, before.events - changed),
      };
      await work.keep(db, next, { done: next.done, total: kept.total, unit: 'items' });
      return next;
    });
  }
  await dropChange(work.db, changeId);
  return { changed: state.changed, refused: state.refused };
};
