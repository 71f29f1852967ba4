import type { Knex } from 'knex';
import { type ItemSummary, idsPage, type Listing, listSummaries, PersonRole } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Page } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';
import { type PersonCredit, type PersonItemsQuery, personItemSorts } from './people.schemas.ts';
import { onlyVisibleCredited, standsOn, visibleCredits } from './people.view.ts';

/** A page of the items that credit a person, each with all roles. */
export async function creditedPage(
  call: Call,
  personId: string,
  query: PersonItemsQuery,
): Promise<{ items: PersonCredit[]; page: Page }> {
  const { db, who } = call;
  const { role, libraryId, episodes, cursor, limit, sort, filter } = query;
  const { items: ids, page } = await idsPage(call, listingOf(call, personId, query), {
    scope: ['listPersonItems', personId, role, libraryId, episodes].join('|'),
    sort,
    fallback: '-year',
    sorts: personItemSorts,
    filter,
    limit,
    cursor,
  });
  const summaries = await listSummaries(db, who, ids);
  const roles = await rolesOn(db, who, { personId, itemIds: ids, singly: episodes });
  const items = summaries.map((item) => toCredit(item, roles.get(item.id) ?? [], episodes));
  return { items, page };
}

function listingOf(
  { db, who }: Call,
  personId: string,
  { role, libraryId, episodes }: Pick<PersonItemsQuery, 'role' | 'libraryId' | 'episodes'>,
): Listing {
  const credits = (): Knex.QueryBuilder => {
    const query = visibleCredits(db, who).where('c.person_id', personId);
    return role === undefined ? query : query.where('c.role', role);
  };
  const standing = (): Knex.QueryBuilder =>
    db
      .from('credited_items as ci')
      .where('ci.owner_id', personId)
      .modify((query) => onlyVisibleCredited(query, { db, who }))
      .select('ci.item_id');
  return {
    types: [],
    narrow: (query) => {
      if (libraryId !== undefined) query.where('i.library_id', libraryId);
      if (episodes) query.whereIn('i.id', credits().select('v.id'));
      else if (role === undefined) query.whereIn('i.id', standing());
      else query.whereIn('i.id', credits().select(db.raw(standsOn('v'))));
    },
  };
}

interface RoleRow {
  item_id: string;
  role: string;
  character: string | null;
  job: string | null;
  position: number;
  episodes: number;
}

interface Wanted {
  personId: string;
  itemIds: readonly string[];
  /** Roles on the items themselves, not on the shows that they stand on. */
  singly: boolean;
}

/** The roles of a person on each item, first ones first; `episodes` of a row is the number of visible episodes of the item. */
async function rolesOn(db: Db, who: Principal, { personId, itemIds, singly }: Wanted): Promise<Map<string, RoleRow[]>> {
  if (itemIds.length === 0) return new Map();
  const stood = singly ? 'v.id' : standsOn('v');
  const each = visibleCredits(db, who)
    .where('c.person_id', personId)
    .whereRaw(`${stood} = any(?::uuid[])`, [[...itemIds]])
    .select(db.raw(`${stood} as item_id, c.role, c.character, c.job, c.position, v.id as via, v.type`));
  const rows: RoleRow[] = await db
    .with('each', each)
    .from('each as e')
    .join(
      db
        .from('each')
        .groupBy('item_id')
        .select('item_id', db.raw(`count(distinct via) filter (where type = 'episode')::int as episodes`))
        .as('t'),
      't.item_id',
      'e.item_id',
    )
    .groupByRaw('e.item_id, e.role, e.character, e.job, t.episodes')
    .orderByRaw('e.item_id, min(e.position), e.role, e.character nulls last, e.job nulls last')
    .select('e.item_id', 'e.role', 'e.character', 'e.job', 't.episodes', db.raw('min(e.position) as position'));
  return Map.groupBy(rows, (row) => row.item_id);
}

/** Most roles shown of a person in one item. */
const MOST_ROLES = 50;

function toCredit(item: ItemSummary, rows: readonly RoleRow[], singly: boolean): PersonCredit {
  const [first] = rows;
  return {
    item,
    roles: rows.slice(0, MOST_ROLES).map(({ role, character, job, position }) => ({
      role: PersonRole.safeParse(role).data ?? ('other' as const),
      ...(character && { character }),
      ...(job && { job }),
      order: position,
    })),
    ...(item.type === 'show' && !singly && { episodes: first?.episodes ?? 0 }),
    ...(item.year !== undefined && { year: item.year }),
  };
}
