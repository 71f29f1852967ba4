import { conflict } from '#kernel/errors.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

/** Columns that a request may set; absent ones stay. */
export interface PersonColumns {
  name?: string | undefined;
  sort_name?: string | null | undefined;
  aliases?: string[] | undefined;
  birthday?: string | null | undefined;
  deathday?: string | null | undefined;
  birthplace?: string | null | undefined;
  biography?: string | null | undefined;
  homepage?: string | null | undefined;
  external_ids?: Record<string, string> | undefined;
  further_ids?: { provider: string; value: string }[] | undefined;
  locked_fields?: string[] | undefined;
}

/** Without undefined members; JSON as text, days as Postgres reads them. */
function columnsOf(db: Db, { name, birthday, deathday, external_ids, further_ids, ...rest }: PersonColumns) {
  const day = (text: string | null): never => (text === null ? null : db.raw('?::date', [text])) as never;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(name !== undefined && { name, name_folded: db.raw('foyer_fold(?)', [name]) }),
    ...(birthday !== undefined && { birthday: day(birthday) }),
    ...(deathday !== undefined && { deathday: day(deathday) }),
    ...(external_ids && { external_ids: JSON.stringify(external_ids) }),
    ...(further_ids && { further_ids: JSON.stringify(further_ids) }),
  };
}

/** Throws 409 `duplicate-external-id` with details.personId. */
export async function insertPerson(db: Db, columns: PersonColumns & { name: string }): Promise<string> {
  await refuseTaken(db, columns.external_ids ?? {}, undefined);
  const id = newId();
  const { name, ...more } = columns;
  await writing(() =>
    db('people').insert({ ...columnsOf(db, more), id, name, name_folded: db.raw('foyer_fold(?)', [name]) }),
  );
  return id;
}

/** Throws 409 `duplicate-external-id` with details.personId. */
export async function updatePersonRow(db: Db, id: string, columns: PersonColumns): Promise<void> {
  await refuseTaken(db, columns.external_ids ?? {}, id);
  await writing(() =>
    db('people')
      .where({ id })
      .update({ ...columnsOf(db, columns), revision: db.raw('revision + 1'), updated_at: db.fn.now() }),
  );
}

async function refuseTaken(db: Db, ids: Record<string, string>, own: string | undefined): Promise<void> {
  const pairs = Object.entries(ids);
  if (pairs.length === 0) return;
  const taken = await db('person_ids')
    .whereRaw('(provider, value) in (select * from unnest(?::text[], ?::text[]))', [
      pairs.map(([provider]) => provider),
      pairs.map(([, value]) => value),
    ])
    .modify((query) => {
      if (own !== undefined) query.whereNot('person_id', own);
    })
    .first('person_id');
  if (taken) throw duplicate({ personId: taken.person_id });
}

const duplicate = (details: { personId?: string } = {}) =>
  conflict('duplicate-external-id', 'Another person has this external id: merge the two', details);

/** Another request may take the id after it was looked at. */
async function writing<T>(write: () => PromiseLike<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (breaks(error, 'person_ids_pkey')) throw duplicate();
    throw error;
  }
}

/** Writes the counts of this transaction now, which otherwise are written when it commits. */
export async function settleCounts(db: Db): Promise<void> {
  await db.raw('set constraints credited_settle immediate');
}

/** Libraries in which items credit these people, visible or not. */
export async function librariesOf(db: Db, ids: readonly string[]): Promise<string[]> {
  return db('credits as c')
    .join('items as i', 'i.id', 'c.item_id')
    .whereRaw('c.person_id = any(?::uuid[])', [[...ids]])
    .distinct('i.library_id')
    .pluck('i.library_id') as Promise<string[]>;
}

/** The first items that credit these people, by id. */
export async function itemsCrediting(db: Db, ids: readonly string[], most: number): Promise<string[]> {
  return db('credits as c')
    .whereRaw('c.person_id = any(?::uuid[])', [[...ids]])
    .distinct('c.item_id')
    .orderBy('c.item_id')
    .limit(most)
    .pluck('c.item_id') as Promise<string[]>;
}

/** Locks the rows of these people in order of id, and returns those that exist. */
export async function lockPeople(db: Db, ids: readonly string[]): Promise<string[]> {
  return db('people')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .orderBy('id')
    .forUpdate()
    .pluck('id') as Promise<string[]>;
}
