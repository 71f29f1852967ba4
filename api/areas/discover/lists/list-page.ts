// A page of a list, which reads rows only.
import type { Knex } from 'knex';
import { visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort, type SortTable } from '#kernel/page.ts';
import { iso } from '#kernel/schemas.ts';
import type { Place } from '#platform/agents/listed-title.ts';
import type { DiscoverSource, DiscoverTitle, Missing } from '../discover.schemas.ts';
import { placeOf, requireDiscover } from '../place.ts';
import { answers, attributionOf, sourcesOf } from '../sources.ts';
import { onlyElsewhere } from '../titles/here.view.ts';
import { type Shown, toTitles } from '../titles/title.view.ts';
import { type EntryRow, findList, type ListName, notePlace } from './lists.store.ts';

interface ListQuery {
  country?: string | undefined;
  genre?: string | undefined;
  hideHere: boolean;
  sort?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface ListRequest {
  operation: string;
  list: ListName;
  query: ListQuery;
  sorts: SortTable;
  fallback: string;
  /** Conditions of the list over `discover_entries as e`. */
  narrow: (query: Knex.QueryBuilder, place: Place) => void;
  /** Codes besides those of the sources. */
  missing?: readonly Missing[];
}

export interface DiscoverAnswer {
  items: DiscoverTitle[];
  page: Page;
  country: string;
  asOf: string;
  sources: DiscoverSource[];
  missing: Missing[];
  attribution: string[];
}

interface ShownRow extends Pick<EntryRow, 'facts' | 'popularity'> {
  id: string;
}

/** The titles of a list that the caller may see. A list that was not made yet is requested. */
export async function listPage(call: Call, request: ListRequest): Promise<DiscoverAnswer> {
  requireDiscover(call);
  const place = await placeOf(call, request.query);
  const made = await findList(call.db, request.list, place);
  await requestList(call, place, made?.made_at);
  const { items: rows, page } = await rowsPage(call, request, place);
  const sources = await sourcesOf(call, made?.sources ?? {});
  return {
    ...{ items: await toTitles(call, place, rows), page, country: place.country },
    ...{ asOf: iso(made?.made_at ?? call.now), sources, attribution: attributionOf(sources) },
    missing: [...(made ? [] : ['lists' as const]), ...missingOf(request.list, sources), ...(request.missing ?? [])],
  };
}

const OLD_MS = 36 * 3_600_000;

/** Notes the use of a place, and queues the job where its list is missing or old. */
async function requestList(call: Call, place: Place, madeAt: Date | undefined): Promise<void> {
  await notePlace(call.db, place);
  if (madeAt && madeAt.getTime() > call.now.getTime() - OLD_MS) return;
  const key = `discover.refresh:${place.country}:${place.language}`;
  await call.enqueue('discover.refresh', { place }, { key, cause: 'system' });
}

async function rowsPage(
  call: Call,
  { operation, list, query, sorts, fallback, narrow }: ListRequest,
  place: Place,
): Promise<{ items: Shown[]; page: Page }> {
  const { db, who, deps } = call;
  const { cursor, limit, sort, ...filter } = query;
  const rows = db
    .from('discover_entries as e')
    .where({ 'e.list': list, 'e.country': place.country, 'e.language': place.language })
    .modify(onlyOfAge, call)
    .modify(narrow, place)
    .select('e.title_id as id', 'e.facts', 'e.popularity');
  if (query.genre !== undefined) void rows.whereRaw('? = any(e.genres)', [query.genre.toLowerCase()]);
  if (query.hideHere) onlyElsewhere(rows, call, 'e.title_id');
  return pageOf<ShownRow, Shown>(db, rows, {
    ...{ keys: deps.keys, terms: parseSort(sort, sorts, fallback), cursor, limit, idColumn: 'e.title_id' },
    scope: JSON.stringify([operation, who.accountId, who.profileId, place, filter]),
    toItem: ({ id, facts, popularity }) => ({ id, facts, popularity }),
  });
}

/** Titles outside of the libraries within the age limit; items of this server as far as the caller sees them. */
function onlyOfAge(query: Knex.QueryBuilder, { db, who }: Call): void {
  const own = visibleItems(db, who).whereRaw('i.id = e.item_id').select(db.raw('1'));
  const { ageLimit, hideUnrated } = who.sees;
  void query.where((any) => {
    void any.whereExists(own).orWhere((other) => {
      void other.whereNull('e.item_id');
      if (ageLimit !== undefined || hideUnrated) void other.whereNotNull('e.age_years').where('e.adult', false);
      if (ageLimit !== undefined) void other.where('e.age_years', '<=', ageLimit);
    });
  });
}

/** What the open sources of a list cannot answer. */
function missingOf(list: ListName, sources: readonly DiscoverSource[]): Missing[] {
  if (answers(sources, 'tmdb')) return [];
  if (list === 'discs') return ['disc-dates', 'popularity'];
  if (list === 'streaming') return ['streaming-offers', 'popularity'];
  return answers(sources, 'wikidata') || answers(sources, 'spine') ? ['popularity'] : ['cinema-dates', 'popularity'];
}
