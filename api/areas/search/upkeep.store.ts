import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { PEOPLE } from './found/candidates.view.ts';

/** Grows when documents of an earlier version must be written again. */
const VERSION = 1;

/** Libraries whose documents are of another language or version; without an id, those of people. */
export async function staleIndexes(db: Db, usual: string): Promise<{ libraryId?: string }[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `select w.id from (
       select l.id, coalesce(l.settings ->> 'language', ?) as language from libraries l where l.deleted_at is null
       union all select ?::uuid, ?) w
     left join search_indexes x on x.library_id = w.id
     where x.version is distinct from ? or x.language <> w.language order by w.id`,
    [usual, PEOPLE, usual, VERSION],
  );
  return rows.map(({ id }) => (id === PEOPLE ? {} : { libraryId: id }));
}

/** New documents are written in the language of the library from now on. Returns the language. */
export async function beginIndex(db: Db, libraryId: string | undefined, usual: string): Promise<string> {
  const [row] = await rowsOf<{ language: string }>(
    db,
    `insert into search_indexes (library_id, language, version)
       values (:id::uuid, coalesce((select settings ->> 'language' from libraries where id = :id::uuid), :usual), 0)
     on conflict (library_id) do update set language = excluded.language, version = 0 returning language`,
    { id: libraryId ?? PEOPLE, usual } as never,
  );
  return row?.language ?? usual;
}

/** The documents are of the current version, unless the library was changed in the meantime. */
export async function endIndex(db: Db, libraryId: string | undefined, language: string): Promise<void> {
  await db('search_indexes')
    .where({ library_id: libraryId ?? PEOPLE, language })
    .update({ version: VERSION });
  await db.raw(
    `delete from search_indexes x where x.library_id <> ? and not exists (select from libraries l where l.id = x.library_id)`,
    [PEOPLE],
  );
}

type Source = 'item' | 'studio' | 'person';

const NEXT: Record<Source, string> = {
  item: 'select id from items where library_id = ? and id > ?::uuid order by id limit ?',
  studio: 'select id from studios where library_id = ? and id > ?::uuid order by id limit ?',
  person: 'select id from people where ?::uuid is not null and id > ?::uuid order by id limit ?',
};

/** Writes the documents of the next rows after an id. Returns the last one; undefined when none was left. */
export async function writeNext(
  db: Db,
  kind: Source,
  {
    libraryId = PEOPLE,
    after = PEOPLE,
    batch,
  }: { libraryId?: string | undefined; after?: string | undefined; batch: number },
): Promise<string | undefined> {
  const rows = await rowsOf<{ id: string }>(db, NEXT[kind], [libraryId, after, batch]);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await db.raw('select foyer_search_write(?::uuid[], ?)', [ids, kind]);
  return ids.at(-1);
}

/** Brings the weights of people and studios up to their number of items, and the indexes in order. */
export async function optimise(db: Db): Promise<void> {
  await db.raw(
    `update search_documents d set weight = n.weight from (
       select c.owner_id, least(0.9, 0.3 + 0.1 * ln(1 + c.items))::real as weight from credited_counts c where c.class_id = 0) n
     where d.id = n.owner_id and abs(d.weight - n.weight) > 0.02`,
  );
  for (const index of ['titles', 'words', 'alike'])
    await db.raw(`select gin_clean_pending_list(?::regclass)`, [`search_documents_${index}`]);
  await db.raw('analyze search_documents');
}
