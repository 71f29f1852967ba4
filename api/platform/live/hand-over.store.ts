// The streams of a tuner whose process leaves.
import type { Db } from '../db.ts';
import { rowsOf } from '../rows.ts';
import { candidatesOf, IN_USE, lockArbitration, nextPlace, relocate, type StreamRow } from './streams.store.ts';

/**
 * Moves streams that are recorded or watched to free slots of other tuners that run, recordings first. The others stay for the
 * next process of this tuner. Returns the channels that were moved. Run it in a transaction.
 */
export async function handOver(db: Db, tunerId: string, running: ReadonlySet<string>): Promise<string[]> {
  await lockArbitration(db);
  const rows = await rowsOf<StreamRow>(
    db,
    `select o.* from live_streams o where o.tuner_id = ? and o.ended_at is null and ${IN_USE}
      order by coalesce(o.recorded_until > now(), false) desc, o.id`,
    [tunerId],
  );
  const moved: string[] = [];
  for (const row of rows) {
    const candidates = await candidatesOf(db, row.channel_id);
    const others = candidates.filter(({ tuner_id: id }) => id !== tunerId && running.has(id));
    const place = nextPlace(others, row, []);
    if (!place) continue;
    await relocate(db, row, { ...place, tried: [] });
    moved.push(row.channel_id);
  }
  return moved;
}

/** Ids of the tuners that are switched on, but for one. */
export async function otherTuners(db: Db, tunerId: string): Promise<string[]> {
  return db('live_tuners').where({ enabled: true }).whereNot({ id: tunerId }).pluck('id');
}
