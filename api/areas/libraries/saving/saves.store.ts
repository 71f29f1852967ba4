// Items whose NFO files and pictures are to be written next to their media.
import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';

/** Files with the values of an item, or its pictures. */
export type SaveKind = 'nfo' | 'artwork';

/** Item types that have a file for their values. */
const DESCRIBED = ['movie', 'show', 'season', 'episode', 'video', 'artist', 'album', 'comic', 'photo'];
/** Photos are pictures themselves; other types without a name for their pictures have none written. */
const PICTURED = ['movie', 'show', 'season', 'episode', 'video', 'artist', 'album', 'book', 'audiobook', 'comic'];

const typesOf: Readonly<Record<SaveKind, readonly string[]>> = { nfo: DESCRIBED, artwork: PICTURED };
const settingOf: Readonly<Record<SaveKind, string>> = { nfo: 'saveNfo', artwork: 'saveArtwork' };

/** Later changes of the same item within this time are written together. */
export const SAVE_DELAY_MS = 20_000;

const COLUMNS = 'item_id, library_id, nfo, artwork, due_at';
const ON_CONFLICT = `on conflict (item_id) do update set nfo = pending_saves.nfo or excluded.nfo,
  artwork = pending_saves.artwork or excluded.artwork, generation = pending_saves.generation + 1, due_at = excluded.due_at`;
const wantedOf = (kind: SaveKind): string => `i.type = any(?::text[]) and i.extra_of is null and i.trashed_at is null
  and l.settings ->> '${settingOf[kind]}' = 'true' and l.deleted_at is null`;

/**
 * Notes changed items of libraries whose settings have them written next to their media, and queues the job, in the
 * transaction of the change.
 */
export async function noteSaves(db: Db, itemIds: readonly string[], kind: SaveKind): Promise<void> {
  if (itemIds.length === 0) return;
  const { rows } = await db.raw<{ rows: { library_id: string }[] }>(
    `insert into pending_saves (${COLUMNS})
     select i.id, i.library_id, ?, ?, now() + make_interval(secs => ?) from items i join libraries l on l.id = i.library_id
     where i.id = any(?::uuid[]) and ${wantedOf(kind)} order by i.id
     ${ON_CONFLICT} returning library_id`,
    [kind === 'nfo', kind === 'artwork', SAVE_DELAY_MS / 1000, [...itemIds], [...typesOf[kind]]],
  );
  for (const libraryId of new Set(rows.map((row) => row.library_id))) await queueSaves(db, libraryId);
}

/** Queues the job of a library, which waits for further changes. */
export async function queueSaves(
  db: Db,
  libraryId: string,
  more: { all?: SaveKind[]; runAt?: Date } = {},
): Promise<void> {
  const { all, runAt = new Date(Date.now() + SAVE_DELAY_MS) } = more;
  await enqueue(db, 'metadata.save', {
    payload: { libraryId, ...(all && { all }) },
    options: {
      ...{ key: `metadata.save:${libraryId}${all ? ':all' : ''}`, priority: 80, runAt },
      ...{ libraryId, target: { kind: 'library', id: libraryId } },
    },
  });
}

/** Notes up to `limit` items of a library after an id; returns the last one, or undefined when none is left. */
export async function noteSavesAfter(
  db: Db,
  libraryId: string,
  { kind, after, limit }: { kind: SaveKind; after: string | undefined; limit: number },
): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: { last: string | null }[] }>(
    `with chosen as (
       select i.id from items i join libraries l on l.id = i.library_id
       where i.library_id = ? and (?::uuid is null or i.id > ?::uuid) and ${wantedOf(kind)} order by i.id limit ?),
     noted as (
       insert into pending_saves (${COLUMNS}) select id, ?::uuid, ?::boolean, ?::boolean, now() from chosen ${ON_CONFLICT})
     select max(id::text) as last from chosen`,
    [
      ...[libraryId, after ?? null, after ?? null, [...typesOf[kind]], limit],
      ...[libraryId, kind === 'nfo', kind === 'artwork'],
    ],
  );
  return rows[0]?.last ?? undefined;
}

/** One item to write. */
export interface PendingSave {
  itemId: string;
  nfo: boolean;
  artwork: boolean;
  generation: number;
}

/** How long a worker has for the items that it took; after that another one takes them. */
const LEASE = '5 minutes';

/** Takes items of a library that are due, for a while. */
export async function takeSaves(db: Db, libraryId: string, limit: number): Promise<PendingSave[]> {
  const { rows } = await db.raw<{ rows: PendingSave[] }>(
    `update pending_saves p set due_at = now() + interval '${LEASE}' from (
       select item_id from pending_saves where library_id = ? and due_at <= now()
       order by due_at, item_id limit ? for update skip locked) due
     where p.item_id = due.item_id returning p.item_id as "itemId", p.nfo, p.artwork, p.generation`,
    [libraryId, limit],
  );
  return rows;
}

/** When the next item of a library is due; undefined when none is left. */
export async function nextSave(db: Db, libraryId: string): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { due: Date | null }[] }>(
    'select min(due_at) as due from pending_saves where library_id = ?',
    [libraryId],
  );
  return rows[0]?.due ?? undefined;
}

/** Ends the save of an item, unless the item changed in the meantime. */
export async function endSave(db: Db, { itemId, generation }: PendingSave): Promise<void> {
  await db('pending_saves').where({ item_id: itemId, generation }).delete();
}

/** Has an item written later. */
export async function putOffSave(db: Db, { itemId, generation }: PendingSave, minutes: number): Promise<void> {
  await db('pending_saves')
    .where({ item_id: itemId, generation })
    .update({ due_at: db.raw('now() + make_interval(mins => ?)', [minutes]) });
}
