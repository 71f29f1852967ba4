import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { onlyVisiblePeople, visibleCredits } from './people.view.ts';

/** Up to so many people are looked up one by one; more of them are met soon in the order of the list. */
const FEW = 1000;

type Narrowing = (query: Knex.QueryBuilder) => void;

/** The caller of a list. */
type Viewer = Pick<Call, 'db' | 'who'>;

/**
 * Narrows `people as p`. A condition that few meet begins with them, one that many meet is checked for each person of the
 * list: the planner cannot know which it is, and would look at every credit or name for a page of fifty.
 */
const amongst =
  (found: readonly string[]): Narrowing =>
  (query) =>
    void query.whereRaw('p.id = any(?::uuid[])', [[...new Set(found)]]);

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
  const few = await peopleIn(db, role);
  return (query) => {
    if (few.length <= FEW) query.modify(amongst(few));
    query.whereRaw('coalesce((?), false)', [credited as unknown as string]); // no join, which would read every item
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

/**
 * People with a name that has a word of this start; without any whom the caller may see, those whose name is alike: a hidden person's name decides nothing.
 */
export async function narrowToName(viewer: Viewer, q: string): Promise<Narrowing> {
  const start = `% ${escaped(q)}%`;
  const started = await named(viewer, `' ' || w.folded like foyer_fold(:start)`, { start });
  if (started.length > FEW)
    return (query) => {
      const has = `select true from person_names w where w.person_id = p.id and ' ' || w.folded like foyer_fold(?) limit 1`;
      query.whereRaw(`coalesce((${has}), false)`, [start]);
    };
  if (started.length > 0) return amongst(started);
  const alike = `w.folded % left(foyer_fold(:q), 100) and similarity(w.folded, left(foyer_fold(:q), 100)) > 0.4`;
  return amongst(await named(viewer, alike, { q }));
}

/** The people of names whom the caller may see: a hidden one takes no place. One for each name, at most one more than `FEW`. */
async function named(viewer: Viewer, condition: string, values: Record<string, string>): Promise<string[]> {
  const { db } = viewer;
  const visible = db
    .from('people as p')
    .whereRaw('p.id = w.person_id')
    .modify((query) => onlyVisiblePeople(query, viewer))
    .select(db.raw('true'))
    .limit(1);
  return db
    .from('person_names as w')
    .whereRaw(condition, values)
    .whereRaw('coalesce((?), false)', [visible as unknown as string]) // no join, which would begin with all who are visible
    .limit(FEW + 1)
    .pluck('w.person_id');
}
