// Items whose pictures are still looked for.
import type { Db } from '#platform/db.ts';

export type Stage = 'fetch' | 'frames' | 'mosaic';

/** Notes that the pictures of items are to be looked for again, in the transaction that changed the items. */
export async function noteWithoutPictures(db: Db, libraryId: string, itemIds: readonly string[]): Promise<void> {
  await db.raw(
    `insert into artwork_pending (item_id, library_id) select distinct id, ?::uuid from unnest(?::uuid[]) as n(id)
     on conflict (item_id) do update set stage = 'fetch', generation = artwork_pending.generation + 1, tries = 0, due_at = now(),
       library_id = excluded.library_id`,
    [libraryId, [...itemIds]],
  );
}

/** One item in its stage. */
export interface Pending {
  itemId: string;
  stage: Stage;
  generation: number;
  tries: number;
}

/** How long a worker has for the items that it took; after that another one takes them. */
const LEASE = '5 minutes';

/** Takes items that are due, for a while. */
export async function takePending(
  db: Db,
  { libraryId, stages, limit }: { libraryId: string | undefined; stages: readonly Stage[]; limit: number },
): Promise<Pending[]> {
  const { rows } = await db.raw<{ rows: Pending[] }>(
    `update artwork_pending p set due_at = now() + interval '${LEASE}' from (
       select item_id from artwork_pending
       where due_at <= now() and stage = any(?::text[]) and (?::uuid is null or library_id = ?::uuid)
       order by due_at, item_id limit ? for update skip locked) due
     where p.item_id = due.item_id
     returning p.item_id as "itemId", p.stage, p.generation, p.tries`,
    [[...stages], libraryId ?? null, libraryId ?? null, limit],
  );
  return rows;
}

/** When the next item of these stages is due; undefined when none is left. */
export async function nextDue(
  db: Db,
  { libraryId, stages }: { libraryId: string | undefined; stages: readonly Stage[] },
): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { due: Date | null }[] }>(
    `select min(due_at) as due from artwork_pending where stage = any(?::text[]) and (?::uuid is null or library_id = ?::uuid)`,
    [[...stages], libraryId ?? null, libraryId ?? null],
  );
  return rows[0]?.due ?? undefined;
}

/** Ends a stage: the next one, or none. An item that changed in the meantime stays as it is. */
export async function endStage(db: Db, { itemId, generation }: Pending, next: Stage | undefined): Promise<void> {
  const row = db('artwork_pending').where({ item_id: itemId, generation });
  if (next) await row.update({ stage: next, tries: 0, due_at: db.raw('now()') });
  else await row.delete();
}

/** Puts an item off; after `MOST_TRIES` it is given up. */
export async function putOff(db: Db, pending: Pending, minutes: number): Promise<void> {
  if (pending.tries + 1 >= MOST_TRIES) {
    await endStage(db, pending, undefined);
    return;
  }
  await db('artwork_pending')
    .where({ item_id: pending.itemId, generation: pending.generation })
    .update({ tries: pending.tries + 1, due_at: db.raw(`now() + make_interval(mins => ?)`, [minutes]) });
}

/** A storage that is gone for weeks is scanned again when it returns. */
const MOST_TRIES = 200;
