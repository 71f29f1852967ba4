// The streams of a tuner whose process leaves.
import type { Db } from '../db.ts';
import { rowsOf } from '../rows.ts';
import { RECORDED } from './in-use.store.ts';
import {
  candidatesOf,
  IN_USE,
  lockArbitration,
  nextPlace,
  type Place,
  relocate,
  type StreamRow,
} from './streams.store.ts';

/** The streams of a tuner that are recorded or watched, recordings first. */
async function streamsInUse(db: Db, tunerId: string): Promise<StreamRow[]> {
  return rowsOf<StreamRow>(
    db,
    `select o.* from live_streams o where o.tuner_id = ? and o.ended_at is null and ${IN_USE}
      order by ${RECORDED} desc, o.id`,
    [tunerId],
  );
}

async function placeFor(db: Db, row: StreamRow, running: ReadonlySet<string>): Promise<Place | undefined> {
  const candidates = await candidatesOf(db, row.channel_id);
  return nextPlace(
    candidates.filter(({ tuner_id: id }) => id !== row.tuner_id && running.has(id)),
    row,
    [],
  );
}

/** Whether the tuner has a stream in use that no other tuner that runs can take. */
export async function hasStranded(db: Db, tunerId: string, running: ReadonlySet<string>): Promise<boolean> {
  const rows = await streamsInUse(db, tunerId);
  for (const row of rows) if (!(await placeFor(db, row, running))) return true;
  return false;
}

/**
 * Moves streams that are recorded or watched to free slots of other tuners that run. The others stay for the next process of
 * this tuner. Returns the channels that were moved. Run it in a transaction.
 */
export async function handOver(db: Db, tunerId: string, running: ReadonlySet<string>): Promise<string[]> {
  await lockArbitration(db);
  const moved: string[] = [];
  for (const row of await streamsInUse(db, tunerId)) {
    const place = await placeFor(db, row, running);
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
