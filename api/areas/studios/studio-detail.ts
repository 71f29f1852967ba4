import type { Knex } from 'knex';
import { listSummaries, visibleItems } from '#areas/items/public.ts';
import { visibleClasses } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import type { Row } from '#platform/typed-query.ts';
import type { StudioDetail } from './studios.schemas.ts';
import { listStudiosOf, visibleCounts } from './studios.view.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'studios.external_ids': Record<string, string>;
  }
}

type Caller = Pick<Call, 'db' | 'who'>;

/** Throws 404 for an unknown studio and for one without a visible item. */
export async function getStudioDetail(call: Caller, id: string): Promise<StudioDetail> {
  const { db, who } = call;
  const [studio] = await listStudiosOf(db, who, [id]);
  const row = await db('studios').where({ id }).first();
  if (!studio || !row) throw notFound();
  const [family, elsewhere, genres, years, topItems] = await Promise.all([
    familyOf(call, row),
    elsewhereOf(call, row),
    genresOf(call, id),
    yearsOf(call, id),
    topItemsOf(call, id),
  ]);
  return {
    ...studio,
    ...(row.description && { description: row.description }),
    ...(row.headquarters && { headquarters: row.headquarters }),
    ...(row.homepage && { homepage: row.homepage }),
    externalIds: row.external_ids,
    ...family,
    elsewhere,
    genres,
    years,
    topItems,
  };
}

const MOST_SUBSIDIARIES = 50;

/** The owning company and the owned ones, as far as they have visible items. */
async function familyOf(
  { db, who }: Caller,
  { id, parent_id }: Row<'studios'>,
): Promise<Pick<StudioDetail, 'parent' | 'subsidiaries'>> {
  const related = await db
    .from('studios as s')
    .where((any) => {
      any.where('s.parent_id', id);
      if (parent_id !== null) any.orWhere('s.id', parent_id);
    })
    .whereIn('s.id', db.from(visibleCounts(db, who).as('v')).select('v.owner_id'))
    .orderByRaw('s.name_folded collate "C", s.id')
    .limit(MOST_SUBSIDIARIES + 1)
    .select<{ id: string; name: string }[]>('s.id', 's.name');
  const parent = related.find((one) => one.id === parent_id);
  const subsidiaries = related.filter((one) => one.id !== parent_id).slice(0, MOST_SUBSIDIARIES);
  return { ...(parent && { parent }), subsidiaries };
}

const MOST_ELSEWHERE = 100;

/** Records of other visible libraries that share an external id. */
async function elsewhereOf({ db, who }: Caller, row: Row<'studios'>): Promise<StudioDetail['elsewhere']> {
  const ids = Object.entries(row.external_ids).map(([provider, value]) => JSON.stringify({ [provider]: value }));
  if (ids.length === 0) return [];
  const found = await db
    .from('studios as s')
    .whereRaw('s.external_ids @> any(?::jsonb[])', [ids])
    .whereNot('s.library_id', row.library_id)
    .orderBy('s.id')
    .limit(MOST_ELSEWHERE)
    .pluck('s.id');
  const studios = await listStudiosOf(db, who, found as string[]);
  return studios.map(({ id: studioId, libraryId, itemCount }) => ({ studioId, libraryId, itemCount }));
}

/** Visible items of a studio, as `items as i`. */
function itemsOf({ db, who }: Caller, id: string): Knex.QueryBuilder {
  const standing = db
    .from('credited_items as ci')
    .where('ci.owner_id', id)
    .whereRaw('ci.class_id = any(?)', [visibleClasses(db, who)])
    .select('ci.item_id');
  return visibleItems(db, who).whereIn('i.id', standing);
}

async function genresOf(call: Caller, id: string): Promise<StudioDetail['genres']> {
  return itemsOf(call, id)
    .join('item_tags as t', 't.item_id', 'i.id')
    .where('t.kind', 'genre')
    .groupBy('t.name_folded')
    .orderByRaw('2 desc, 1')
    .limit(10)
    .select(call.db.raw('min(t.name) as name'), call.db.raw('count(*)::int as count')) as Promise<
    StudioDetail['genres']
  >;
}

async function yearsOf(call: Caller, id: string): Promise<StudioDetail['years']> {
  const [row] = await itemsOf(call, id).select<{ from: number | null; to: number | null }[]>(
    call.db.raw('min(i.year) as "from"'),
    call.db.raw('max(i.year) as "to"'),
  );
  return { ...(row?.from != null && { from: row.from }), ...(row?.to != null && { to: row.to }) };
}

async function topItemsOf(call: Caller, id: string): Promise<StudioDetail['topItems']> {
  const ids = await itemsOf(call, id)
    .orderByRaw('i.rating desc nulls last, i.year desc nulls last, i.added_at desc, i.id')
    .limit(12)
    .pluck('i.id');
  return listSummaries(call.db, call.who, ids as string[]);
}
