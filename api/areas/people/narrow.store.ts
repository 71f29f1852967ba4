import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { visibleCredits } from './people.view.ts';

/** Up to so many people are looked up one by one; more of them are met soon in the order of the list. */
const FEW = 1000;

type Narrowing = (query: Knex.QueryBuilder) => void;

/**
 * Narrows `people as p`. A condition that few meet begins with them, one that many meet is checked for each person of the
 * list: the planner cannot know which it is, and would look at every credit or name for a page of fifty.
 */
function narrowing(found: readonly string[], check: Narrowing): Narrowing {
  const ids = [...new Set(found)];
  return (query) => {
    if (found.length <= FEW) query.whereRaw('p.id = any(?::uuid[])', [ids]);
    else check(query);
  };
}

/** People whom a visible item credits in a role; in a library if one is given. */
export async function narrowToRole(
  db: Db,
  who: Principal,
  { role, libraryId }: { role: string; libraryId: string | undefined },
): Promise<Narrowing> {
  const credited = visibleCredits(db, who)
    .whereRaw('c.person_id = p.id')
    .where('c.role', role)
    .select(db.raw('true'))
    .limit(1);
  if (libraryId !== undefined) credited.where('v.library_id', libraryId);
  const narrow = narrowing(await peopleIn(db, role), () => undefined);
  return (query) => {
    query.modify(narrow).whereRaw('coalesce((?), false)', [credited as unknown as string]); // no join, which would read every item
  };
}

/** The first people of a role, each by one step in its index. */
async function peopleIn(db: Db, role: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive held(id) as (
       (select person_id from credits where role = :role order by person_id limit 1)
       union all
       select (select c.person_id from credits c where c.role = :role and c.person_id > held.id order by c.person_id limit 1)
       from held where held.id is not null)
     select id from held where id is not null limit ${FEW + 1}`,
    { role },
  );
  return rows.map(({ id }) => id);
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** People with a name that has a word of this start; without any, those whose name is alike. */
export async function narrowToName(db: Db, q: string): Promise<Narrowing> {
  const start = `% ${escaped(q)}%`;
  const started = await named(db, `' ' || folded like foyer_fold(:start)`, { start });
  if (started.length > 0)
    return narrowing(started, (query) => {
      const has = `select true from person_names w where w.person_id = p.id and ' ' || w.folded like foyer_fold(?) limit 1`;
      query.whereRaw(`coalesce((${has}), false)`, [start]);
    });
  const alike = `folded % left(foyer_fold(:q), 100) and similarity(folded, left(foyer_fold(:q), 100)) > 0.4`;
  const ids = (await named(db, alike, { q })).slice(0, FEW);
  return narrowing(ids, () => undefined);
}

async function named(db: Db, condition: string, values: Record<string, string>): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { person_id: string }[] }>(
    `select person_id from person_names where ${condition} limit ${FEW + 1}`,
    values,
  );
  return rows.map((row) => row.person_id);
}
