import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { dayOf } from '#areas/items/public.ts';
import { may } from '#identity/principal.ts';
import { visibleClasses } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { EXACT, estimated, type Page, pageOf, parseSort, type SortTable, type Total } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';
import { narrowToName, narrowToRole } from './narrow.store.ts';
import type { PeopleQuery, Person } from './people.schemas.ts';
import { listPeopleOf, onlyVisiblePeople } from './people.view.ts';

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** Where the shuffle of a profile starts on a day. */
function startOf(call: Caller): number {
  const digest = createHash('sha256')
    .update(`${dayOf(call)}|${call.who.profileId}`)
    .digest();
  return Math.fround(digest.readUInt32BE(0) / 2 ** 32);
}

const sortsOf = (call: Caller): SortTable => ({
  sortName: { column: 'p.sort_key collate "C"', type: 'text' },
  itemCount: { column: 'n.items', type: 'int' },
  birthday: { column: 'p.birthday', type: 'date', nullable: true },
  addedAt: { column: 'p.created_at', type: 'timestamptz' },
  random: { column: 'p.shuffle', type: 'real', start: startOf(call) },
});

/** A page of the people that the caller may see. */
export async function listVisiblePeople(call: Caller, query: PeopleQuery): Promise<{ items: Person[]; page: Page }> {
  const { cursor, limit, sort, ...wanted } = query;
  const { db, who, deps } = call;
  const terms = parseSort(sort, sortsOf(call), 'sortName');
  const scope = ['listPeople', wanted, who.profileId, terms.some(({ start }) => start !== undefined) && dayOf(call)];
  const narrowed = selectPeople(call, wanted);
  for (const narrow of await narrowingsOf(call, wanted)) narrowed.modify(narrow);
  const { items: ids, page } = await pageOf<{ id: string }, string>(db, narrowed.select('p.id'), {
    keys: deps.keys,
    terms,
    cursor,
    limit,
    scope: JSON.stringify(scope),
    idColumn: 'p.id',
    toItem: ({ id }) => id,
    ...(isWhole(wanted) && { total: () => totalOf(call, wanted.libraryId) }),
  });
  return { items: await listPeopleOf(db, who, ids), page };
}

function selectPeople(call: Caller, wanted: Wanted): Knex.QueryBuilder {
  const { db, who } = call;
  const { role, libraryId, favorite, startsWith } = wanted;
  const query = db
    .from('people as p')
    .joinRaw(`join credited_counts n on n.owner_id = p.id and n.class_id = 0 and n.kind = 'person'`);
  // A credit of that role in a visible item, which the role is narrowed to, makes a person visible.
  if (role === undefined) query.modify((all) => onlyVisiblePeople(all, { db, who }, libraryId));
  if (startsWith !== undefined) {
    query.whereRaw(`p.sort_key collate "C" >= foyer_fold(?) and p.sort_key collate "C" < foyer_fold(?) || ?`, [
      startsWith,
      startsWith,
      LAST,
    ]);
  }
  if (favorite !== undefined) {
    const mine = 'exists (select from person_favorites f where f.person_id = p.id and f.profile_id = ?::uuid)';
    query.whereRaw(favorite ? mine : `not ${mine}`, [who.profileId || null]);
  }
  return query;
}

async function narrowingsOf({ db, who }: Caller, { q, role, libraryId }: Wanted) {
  return [
    ...(q === undefined ? [] : [await narrowToName({ db, who }, q)]),
    ...(role === undefined ? [] : [await narrowToRole(db, who, { role, libraryId })]),
  ];
}

/** The last character in the order of bytes. */
const LAST = '\u{10ffff}';

type Wanted = Omit<PeopleQuery, 'cursor' | 'limit' | 'sort'>;

/** Whether the list is narrowed by nothing but a library, so that counts alone give its length. */
const isWhole = ({ q, role, favorite, startsWith }: Wanted): boolean =>
  q === undefined && role === undefined && favorite === undefined && startsWith === undefined;

/** The number of visible people from the counts: looking at each person would take longer than the page. */
async function totalOf(call: Caller, libraryId: string | undefined): Promise<Total> {
  const { db, who } = call;
  const credited = db
    .from('credited_counts as cc')
    .where('cc.kind', 'person')
    .whereRaw('cc.class_id = any(?)', [visibleClasses(db, who, libraryId)])
    .distinct('cc.owner_id');
  const uncredited = db
    .from('credited_counts as n')
    .where({ 'n.class_id': 0, 'n.kind': 'person', 'n.items': 0 })
    .whereRaw('not exists (select from credits c where c.person_id = n.owner_id)')
    .select('n.owner_id');
  const editor = may(who, 'item:edit') && libraryId === undefined;
  const total = (await countOf(db, credited)) + (editor ? await countOf(db, uncredited) : 0);
  return total <= EXACT ? { total } : estimated(db, selectPeople(call, { libraryId }), total);
}

async function countOf(db: Db, owners: Knex.QueryBuilder): Promise<number> {
  const [row] = await db
    .queryBuilder()
    .from(owners.limit(EXACT + 1).as('counted'))
    .select<{ n: number }[]>(db.raw('count(*)::int as n'));
  return row?.n ?? 0;
}
