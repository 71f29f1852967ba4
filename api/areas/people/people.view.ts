import type { Knex } from 'knex';
import { survivorOf } from '#areas/artwork/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems, visibleClasses } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { ImageRef } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Person } from './people.schemas.ts';

type Viewer = Pick<Call, 'db' | 'who'>;

/** SQL of the item that an item in `alias` stands on: its show, or itself. */
export const standsOn = (alias: string): string =>
  `foyer_stands_on(${alias}.type, ${alias}.id, ${alias}.parent_id, ${alias}.grandparent_id)`;

/** Restricts a query over `people as p` to those whom a visible item credits; editors see those without any credit too. */
export function onlyVisiblePeople(query: Knex.QueryBuilder, { db, who }: Viewer, libraryId?: string): void {
  const counted = db
    .from('credited_counts as cc')
    .select(db.raw('1'))
    .whereRaw('cc.owner_id = p.id and cc.class_id = any(?)', [visibleClasses(db, who, libraryId)]);
  query.where((any) => {
    any.whereExists(counted);
    if (!may(who, 'item:edit') || libraryId !== undefined) return;
    any.orWhereRaw('not exists (select from credits c where c.person_id = p.id)');
  });
}

/** A query over `items as v` joined to `credits as c`: visible items with a credit of a person, as the caller may know. */
export function visibleCredits(db: Db, who: Principal): Knex.QueryBuilder {
  return db
    .from('credits as c')
    .join('items as v', 'v.id', 'c.item_id')
    .whereNull('v.extra_of')
    .modify(onlyVisibleItems, who, 'v');
}

/** A person whom the caller may see, or who was merged into such a person. Throws 404. */
export async function getVisiblePerson({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<string> {
  const own = await survivorOf(db, id);
  const row = await db
    .from('people as p')
    .where('p.id', own)
    .modify((query) => onlyVisiblePeople(query, { db, who }))
    .first<{ id: string } | undefined>('p.id');
  if (!row) throw notFound();
  return row.id;
}

/** Credits of each person that are looked at for `knownFor`. */
const LOOKED_AT = 100;

const COLUMNS = ['p.id', 'p.name', 'p.sort_name', 'p.portrait'] as const;

interface PersonRow extends Pick<Row<'people'>, 'id' | 'name' | 'sort_name' | 'portrait'> {
  birthday: string | null;
  deathday: string | null;
  item_count: number;
  known_for: string | null;
  favorite: boolean;
}

/** People by id, with what the caller may know of them. */
export async function findPeople(db: Db, who: Principal, ids: readonly string[]): Promise<Map<string, Person>> {
  if (ids.length === 0) return new Map();
  const shown = visibleCredits(db, who).whereRaw('c.person_id = p.id').select('c.role').limit(LOOKED_AT);
  const known = db
    .from(shown.as('looked'))
    .groupBy('looked.role')
    .orderByRaw('count(*) desc, looked.role')
    .limit(1)
    .select('looked.role');
  const rows: PersonRow[] = await db
    .from('people as p')
    .whereRaw('p.id = any(?::uuid[])', [[...ids]])
    .select(...COLUMNS, db.raw('p.birthday::text, p.deathday::text'))
    .select(
      db.raw(
        `coalesce((select sum(cc.items) from credited_counts cc where cc.owner_id = p.id and cc.class_id = any(?)), 0)::int as item_count`,
        [visibleClasses(db, who)],
      ),
      db.raw('(?) as known_for', [known as unknown as string]),
      db.raw(
        'exists (select from person_favorites f where f.person_id = p.id and f.profile_id = ?::uuid) as favorite',
        [who.profileId || null],
      ),
    );
  return new Map(rows.map((row) => [row.id, toPerson(row)]));
}

function toPerson(row: PersonRow): Person {
  const portrait = ImageRef.safeParse(row.portrait).data;
  return {
    id: row.id,
    name: row.name,
    sortName: row.sort_name ?? row.name,
    ...(row.known_for && { knownFor: row.known_for as NonNullable<Person['knownFor']> }),
    ...(portrait && { portrait }),
    ...(row.birthday && { birthday: row.birthday }),
    ...(row.deathday && { deathday: row.deathday }),
    itemCount: row.item_count,
    favorite: row.favorite,
  };
}

/** People in the order of `ids`. */
export async function listPeopleOf(db: Db, who: Principal, ids: readonly string[]): Promise<Person[]> {
  const found = await findPeople(db, who, ids);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Restricts a query over `credited_items as ci` to items that the caller may see with the credit. */
export function onlyVisibleCredited(query: Knex.QueryBuilder, { db, who }: Viewer, alias = 'ci'): void {
  query.whereRaw(`${alias}.class_id = any(?)`, [visibleClasses(db, who)]);
}
