import { listSummaries, PersonRole, visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Row } from '#platform/typed-query.ts';
import { colleaguesOf } from './colleagues.view.ts';
import { lockable, type PersonDetail } from './people.schemas.ts';
import { findPeople, onlyVisibleCredited, standsOn, visibleCredits } from './people.view.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'people.external_ids': Record<string, string>;
    'people.further_ids': { provider: string; value: string }[];
  }
}

type Caller = Pick<Call, 'db' | 'who'>;
type Include = readonly ('colleagues' | 'topItems')[] | undefined;

/** A person whom the caller may see, see `getVisiblePerson`. */
export async function personDetail(call: Caller, id: string, include?: Include): Promise<PersonDetail> {
  const { db, who } = call;
  // one after the other, because a change reads it on the connection of its transaction
  const person = (await findPeople(db, who, [id])).get(id);
  const row = await db('people').where({ id }).first();
  const favorite = await favoriteOf(call, id);
  const roles = await rolesOf(call, id);
  const sameAs = await sameAsOf(call, id);
  if (!person || !row) throw notFound();
  return {
    ...person,
    ...factsOf(row),
    roles,
    sameAs,
    notify: favorite?.notify ?? false,
    ...(include?.includes('colleagues') && { colleagues: await colleaguesOf(call, id) }),
    ...(include?.includes('topItems') && { topItems: await topItemsOf(call, id) }),
  };
}

async function favoriteOf({ db, who }: Caller, id: string): Promise<{ notify: boolean } | undefined> {
  if (!who.profileId) return undefined;
  return db('person_favorites').where({ person_id: id, profile_id: who.profileId }).first('notify');
}

type Facts = Pick<
  PersonDetail,
  'biography' | 'birthplace' | 'aliases' | 'homepage' | 'externalIds' | 'lockedFields' | 'refreshedAt' | 'updatedAt'
>;

function factsOf(row: Row<'people'>): Facts {
  return {
    ...(row.biography && { biography: row.biography }),
    ...(row.birthplace && { birthplace: row.birthplace }),
    ...(row.homepage && { homepage: row.homepage }),
    ...(row.refreshed_at && { refreshedAt: iso(row.refreshed_at) }),
    aliases: row.aliases.slice(0, 50),
    externalIds: row.external_ids,
    lockedFields: lockable.filter((name) => row.locked_fields.includes(name)),
    updatedAt: iso(row.updated_at),
  };
}

/** Visible items of the person by role. */
async function rolesOf({ db, who }: Caller, id: string): Promise<PersonDetail['roles']> {
  const rows: { role: string; count: number }[] = await visibleCredits(db, who)
    .where('c.person_id', id)
    .groupBy('c.role')
    .orderByRaw('2 desc, c.role')
    .select('c.role', db.raw(`count(distinct ${standsOn('v')})::int as count`));
  return rows.flatMap(({ role, count }) => {
    const known = PersonRole.safeParse(role).data;
    return known ? [{ role: known, count }] : [];
  });
}

/** Artists and authors that share an external id with the person, else the name, and contradict no id. */
async function sameAsOf({ db, who }: Caller, id: string): Promise<PersonDetail['sameAs']> {
  const rows: { id: string; type: 'artist' | 'author'; title: string }[] = await visibleItems(db, who)
    .join('people as p', 'p.id', db.raw('?::uuid', [id]))
    .whereRaw(`i.type in ('artist', 'author') and i.extra_of is null`)
    .whereRaw(
      `(foyer_fold(i.title) = any(array(select n.folded from person_names n where n.person_id = p.id))
        or i.external_ids @> any(array(select jsonb_build_object(o.provider, o.value) from person_ids o where o.person_id = p.id)))`,
    )
    .whereRaw(
      `not exists (select from jsonb_each_text(i.external_ids) e
        where exists (select from person_ids o where o.person_id = p.id and o.provider = e.key)
          and not exists (select from person_ids o where o.person_id = p.id and o.provider = e.key and o.value = e.value))`,
    )
    .orderBy(['i.type', 'i.sort_title', 'i.id'])
    .limit(50)
    .select('i.id', 'i.type', 'i.title');
  return rows.map(({ id: itemId, type, title }) => ({ itemId, type, title }));
}

const MOST_TOP = 12;

/** Items of the person by rating; those that the profile has played or marked come first among equals. */
async function topItemsOf({ db, who }: Caller, id: string): Promise<NonNullable<PersonDetail['topItems']>> {
  const credited = db
    .from('credited_items as ci')
    .where('ci.owner_id', id)
    .modify((query) => onlyVisibleCredited(query, { db, who }))
    .select('ci.item_id');
  const ids = (await visibleItems(db, who)
    .whereIn('i.id', credited)
    .orderByRaw(
      `coalesce(s.rating, i.rating, 0) + case when coalesce(s.play_count, 0) > 0 or coalesce(s.favorite, false) or exists (
         select from item_states w join items e on e.id = w.item_id
         where w.profile_id = ?::uuid and e.grandparent_id = i.id and w.play_count > 0) then 1 else 0 end desc, i.sort_title, i.id`,
      [who.profileId || null],
    )
    .limit(MOST_TOP)
    .pluck('i.id')) as string[];
  return listSummaries(db, who, ids);
}
