import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { recordRemovals } from '../removals.store.ts';
import { addToLibraries, measure, rollUpItems, withParents } from '../rollup.store.ts';

interface Member extends Pick<Row<'items'>, 'id' | 'type' | 'parent_id' | 'index_number' | 'parent_index'> {
  trashed: boolean;
  folded: string;
  identity_key: string;
}

/** An item that becomes part of another one. */
export interface Joined {
  from: string;
  into: string;
}

/** Moves what other areas keep of the items; each item is in one pair only, on either side. */
export type KeepRest = (pairs: readonly Joined[]) => Promise<void>;

/** What a merge of items moves. */
export interface Combined {
  files: number;
  children: number;
}

const PAIR = `jsonb_to_recordset(?::jsonb) as r("from" uuid, "into" uuid)`;

const MEMBERS = `select i.id, i.type, i.parent_id, i.index_number, i.parent_index, i.identity_key,
  i.trashed_at is not null as trashed, foyer_fold(i.title) as folded`;

/** Descendants of items, extras excepted. */
async function below(db: Db, ids: readonly string[]): Promise<Member[]> {
  return rowsOf<Member>(
    db,
    `${MEMBERS} from items i where (i.parent_id = any(?::uuid[]) or i.grandparent_id = any(?::uuid[])) and i.extra_of is null
     order by i.id for update`,
    [[...ids], [...ids]],
  );
}

/** The number of files and descendants that a merge of these items moves. */
export async function countCombined(db: Db, ids: readonly string[]): Promise<Combined> {
  const [row] = await rowsOf<Combined>(
    db,
    `with held as (select i.id, i.id <> all(?::uuid[]) as under from items i
       where i.id = any(?::uuid[]) or i.parent_id = any(?::uuid[]) or i.grandparent_id = any(?::uuid[]))
     select (select count(*)::int from media_files f where f.item_id in (select id from held)) as files,
       (select count(*)::int from held where under) as children`,
    [[...ids], [...ids], [...ids], [...ids]],
  );
  return row ?? { files: 0, children: 0 };
}

/**
 * Makes other items part of one, child by child: same number or name becomes one item with the files of both. The caller's
 * transaction has raised the change numbers. Old ids and the keys by which scans find the items lead to what they became.
 */
export async function combineItems(
  db: Db,
  { intoId, otherIds }: { intoId: string; otherIds: readonly string[] },
  keepRest: KeepRest,
): Promise<void> {
  const all = [intoId, ...otherIds];
  const touched = [...new Set([...all, ...(await below(db, all)).map(({ id }) => id)])];
  const before = await measure(db, await withParents(db, touched));
  for (const other of otherIds) await combine(db, { from: other, into: intoId }, keepRest);
  const left = (await db('items').whereIn('id', touched).pluck('id')) as string[];
  await rollUpItems(db, left);
  await addToLibraries(db, before, await measure(db, await withParents(db, left)));
}

async function combine(db: Db, whole: Joined, keepRest: KeepRest): Promise<void> {
  const { into: intoId, from: otherId } = whole;
  const [own, others] = [await below(db, [intoId]), await below(db, [otherId])];
  const pairs: Joined[] = [whole];
  const moved: { id: string; parent: string; grandparent: string | null }[] = [];
  const target = await db('items').where({ id: intoId }).first('parent_id');
  join({ into: intoId, other: otherId, above: target?.parent_id ?? null });
  await moveChildren(db, moved);
  await keepRest(pairs);
  await moveBelongings(db, pairs);
  await forget(db, pairs);

  function join(at: { into: string; other: string; above: string | null }): void {
    const known = own.filter((one) => one.parent_id === at.into);
    const taken = new Set<string>();
    for (const child of others.filter((one) => one.parent_id === at.other)) {
      const twin = known.find((one) => !taken.has(one.id) && isSame(one, child));
      if (twin) {
        taken.add(twin.id);
        pairs.push({ from: child.id, into: twin.id });
        join({ into: twin.id, other: child.id, above: at.into });
      } else {
        moved.push({ id: child.id, parent: at.into, grandparent: at.above });
        for (const leaf of others.filter((one) => one.parent_id === child.id))
          moved.push({ id: leaf.id, parent: child.id, grandparent: at.into });
      }
    }
  }
}

/** Numbered items are the same by their numbers, others by name. An item in the trash joins only another one in the trash. */
function isSame(one: Member, other: Member): boolean {
  if (one.type !== other.type || one.trashed !== other.trashed) return false;
  if (one.index_number !== null || other.index_number !== null)
    return one.index_number === other.index_number && one.parent_index === other.parent_index;
  return one.folded === other.folded;
}

async function moveChildren(
  db: Db,
  moved: readonly { id: string; parent: string; grandparent: string | null }[],
): Promise<void> {
  await db.raw(
    `update items i set parent_id = r.parent, grandparent_id = r.grandparent, revision = i.revision + 1, updated_at = now(),
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id)
     from jsonb_to_recordset(?::jsonb) as r(id uuid, parent uuid, grandparent uuid) where i.id = r.id`,
    [JSON.stringify(moved)],
  );
}

const STRICTER = `f.age_years > coalesce(i.age_years, -1)`;

/** The higher age limit stays, so that a merge makes no item visible to more people; a person may lower it. */
async function keepAgeLimits(db: Db, pairs: readonly Joined[]): Promise<void> {
  const rows = JSON.stringify(pairs);
  await db.raw(
    `insert into item_edits (item_id, field, value) select i.id, 'ageRating', to_jsonb(f.age_rating)
     from ${PAIR} join items f on f.id = r.from join items i on i.id = r.into where ${STRICTER} and f.age_rating is not null
     on conflict (item_id, field) do update set value = excluded.value, at = now()`,
    [rows],
  );
  await db.raw(
    `update items i set age_years = f.age_years, age_rating = f.age_rating,
       origins = i.origins || '{"ageRating":"person"}',
       locked_fields = array(select distinct l from unnest(i.locked_fields || '{ageRating}') l order by l)
     from ${PAIR} join items f on f.id = r.from where i.id = r.into and ${STRICTER}`,
    [rows],
  );
}

async function moveBelongings(db: Db, pairs: readonly Joined[]): Promise<void> {
  const rows = JSON.stringify(pairs);
  await keepAgeLimits(db, pairs);
  await db.raw(`update media_files f set item_id = r.into, updated_at = now() from ${PAIR} where f.item_id = r.from`, [
    rows,
  ]);
  await db.raw(`update markers m set item_id = r.into from ${PAIR} where m.item_id = r.from`, [rows]);
  await db.raw(`update items i set extra_of = r.into from ${PAIR} where i.extra_of = r.from`, [rows]);
  await db.raw(
    `update items i set revision = i.revision + 1, updated_at = now(),
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id) from ${PAIR} where i.id = r.into`,
    [rows],
  );
}

/** Deletes the rows that became part of others; their ids and keys lead to those. */
async function forget(db: Db, pairs: readonly Joined[]): Promise<void> {
  const rows = JSON.stringify(pairs);
  await db.raw(`update item_merges m set into_id = r.into from ${PAIR} where m.into_id = r.from`, [rows]);
  await db.raw(`update merged_keys m set into_id = r.into from ${PAIR} where m.into_id = r.from`, [rows]);
  await db.raw(
    `insert into item_merges (old_id, into_id) select r.from, r.into from ${PAIR}
     on conflict (old_id) do update set into_id = excluded.into_id, merged_at = now()`,
    [rows],
  );
  await db.raw(
    `insert into merged_keys (library_id, type, identity_key, into_id) select i.library_id, i.type, i.identity_key, r.into
     from ${PAIR} join items i on i.id = r.from on conflict (library_id, type, identity_key) do update set into_id = excluded.into_id`,
    [rows],
  );
  const gone = await rowsOf<{ id: string; library_id: string }>(
    db,
    `delete from items i using ${PAIR} where i.id = r.from returning i.id, i.library_id`,
    [rows],
  );
  for (const [libraryId, own] of Map.groupBy(gone, (row) => row.library_id))
    await recordRemovals(
      db,
      libraryId,
      own.map(({ id }) => id),
    );
}
