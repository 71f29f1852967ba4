// Titles that the server itself knows: items of the libraries and works of the loaded packs.
import type { Knex } from 'knex';
import { visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { ListedTitle, TitleKind } from '#platform/agents/listed-title.ts';
import { known } from '#platform/agents/parts.ts';
import type { Db } from '#platform/db.ts';
import { itemIds } from '#platform/spine/agent.ts';
import type { Work } from '#platform/spine/work.ts';
import { worksAlike, worksByIds, worksByTitle } from '#platform/spine/works.store.ts';
import { type Ids, namingIds } from './identity.store.ts';

const MOST_FOUND = 50;

interface ItemRow {
  id: string;
  type: TitleKind;
  title: string;
  original_title: string | null;
  year: number | null;
  released_on: string | null;
  overview: string | null;
  age_rating: string | null;
  rating: number | null;
  runtime_ms: number | null;
  external_ids: Record<string, string>;
  genres: string[];
}

/** A title of an item, with the id of the item. */
export interface ItemTitle {
  itemId: string;
  title: ListedTitle;
}

/** Films and shows of a query over `items as i`. */
export async function itemTitles(db: Db, items: Knex.QueryBuilder): Promise<ItemTitle[]> {
  const rows = (await items
    .whereIn('i.type', ['movie', 'show'])
    .whereNull('i.extra_of')
    .select(
      ...([
        'i.id',
        'i.type',
        'i.title',
        'i.original_title',
        'i.year',
        'i.overview',
        'i.age_rating',
        'i.rating',
      ] as const),
      ...(['i.external_ids', 'i.runtime_ms'] as const),
    )
    .select(
      db.raw('i.released_on::text as released_on'),
      db.raw(
        `array(select g.name from item_tags g where g.item_id = i.id and g.kind = 'genre' order by g.name) as genres`,
      ),
    )) as ItemRow[];
  return rows.map((row) => ({ itemId: row.id, title: titleOfItem(row) }));
}

function titleOfItem(row: ItemRow): ListedTitle {
  const ids = Object.fromEntries(namingIds(row.external_ids));
  return known<ListedTitle>({
    ...{ kind: row.type, ids: Object.keys(ids).length > 0 ? ids : { item: row.id }, title: row.title },
    ...{ originalTitle: row.original_title ?? undefined, year: row.year ?? undefined, genres: row.genres },
    ...{ releasedOn: row.released_on ?? undefined, overview: row.overview ?? undefined },
    ...{
      ageRating: row.age_rating ?? undefined,
      runtimeMs: row.type === 'movie' ? (row.runtime_ms ?? undefined) : undefined,
    },
  });
}

/** Visible items with such a title. */
export async function itemsFound({ db, who }: Pick<Call, 'db' | 'who'>, q: string): Promise<ItemTitle[]> {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
  const found = visibleItems(db, who)
    .whereRaw('(foyer_fold(i.title) like foyer_fold(?) or foyer_fold(i.title) % foyer_fold(?))', [pattern, q])
    .limit(MOST_FOUND);
  return itemTitles(db, found);
}

/** A visible item by its id. */
export async function itemTitle({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<ItemTitle | undefined> {
  const [found] = await itemTitles(db, visibleItems(db, who).where('i.id', id));
  return found;
}

/** The title of a film or a show of a pack. Its first release counts for the countries that made it. */
export function workTitle(work: Work, country: string): ListedTitle {
  const released = work.countries.includes(country) ? work.releasedOn : undefined;
  return known<ListedTitle>({
    ...{ kind: work.kind as TitleKind, ids: itemIds(work), title: work.title, originalTitle: work.originalTitle },
    ...{ year: work.year, releasedOn: work.releasedOn, overview: work.description, genres: work.genres },
    runtimeMs: work.kind === 'movie' ? work.runtimeMs : undefined,
    releases: released ? [{ kind: 'cinema', day: released, country, certainty: 'listed' }] : [],
    ...{ countries: work.countries, languages: work.languages },
    people: work.creators.slice(0, 20).map(({ name, role, ids }) => ({ name, role, ids })),
  });
}

/** Works by the ids of a title. */
export async function workOf(db: Db, kind: TitleKind, ids: Ids): Promise<Work | undefined> {
  const named = namingIds(ids).map(([scheme, value]) => `${scheme}:${value}`);
  const [first] = await worksByIds(db, named, kind);
  return first?.work;
}

/** Films and shows of the packs with such a title. */
export async function worksFound(db: Db, kinds: readonly TitleKind[], q: string): Promise<Work[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const exact = await worksByTitle(db, { titles: [q], kind });
      return exact.length > 0 ? exact : worksAlike(db, q, kind);
    }),
  );
  return found.flatMap((all) => all.slice(0, MOST_FOUND).map(({ work }) => work));
}
