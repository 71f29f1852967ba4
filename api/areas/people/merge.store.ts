import type { Db } from '#platform/db.ts';

export interface CreditMove {
  into: string;
  from: readonly string[];
}

/** Moves the credits of people; of equal ones (item, role, character, job) one stays, the first in order. */
export async function moveCredits(db: Db, { into, from }: CreditMove): Promise<void> {
  await db.raw(
    `delete from credits where id in (
       select id from (
         select c.id, row_number() over (partition by c.item_id, c.role, c.character, c.job
           order by c.person_id <> :into, c.position, c.id) as place
         from credits c where c.person_id = :into or c.person_id = any(:from::uuid[])) ranked
       where place > 1)`,
    { into, from: [...from] },
  );
  await db('credits')
    .whereRaw('person_id = any(?::uuid[])', [[...from]])
    .update({ person_id: into });
}

/** Favourites of the others become favourites of this one, and notify when one of them did. */
export async function moveFavorites(db: Db, { into, from }: CreditMove): Promise<void> {
  await db.raw(
    `insert into person_favorites as f (profile_id, person_id, notify, notified_until, created_at)
     select profile_id, ?, bool_or(notify), max(notified_until), min(created_at) from person_favorites
       where person_id = any(?::uuid[]) group by profile_id
     on conflict (profile_id, person_id) do update set notify = f.notify or excluded.notify`,
    [into, [...from]],
  );
}

/** The ids of the others, and those that were merged into them, name this person from now on. */
export async function noteAliases(db: Db, { into, from }: CreditMove): Promise<void> {
  await db('person_aliases')
    .whereRaw('person_id = any(?::uuid[])', [[...from]])
    .update({ person_id: into });
  await db('person_aliases').insert(from.map((id) => ({ old_id: id, person_id: into })));
}
