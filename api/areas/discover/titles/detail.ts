// One title with everything about it, and where it can be watched.
import { findVisibleItem, type ItemSummary, listSimilar, listSummaries, visibleItems } from '#areas/items/public.ts';
import { onlyVisiblePeople } from '#areas/people/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import type { ImageRef } from '#kernel/schemas.ts';
import type { ListedPerson, ListedTitle } from '#platform/agents/listed-title.ts';
import { known } from '#platform/agents/parts.ts';
import type { DiscoverDetail } from '../discover.schemas.ts';
import { placeOf, requireDiscover } from '../place.ts';
import { attributionOf, sourcesOf } from '../sources.ts';
import { allows } from './ages.ts';
import { currentTitle, startOf } from './current.ts';
import { lacksPoster, noteUsed } from './details.store.ts';
import { together } from './facts.ts';
import { partsOf } from './identity.store.ts';
import { itemTitle } from './inside.ts';
import { aroundTitles, toTitle } from './title.view.ts';

const MOST_SIMILAR = 12;

export async function titleDetail(
  call: Call,
  titleId: string,
  query: { country?: string | undefined; language?: string | undefined },
): Promise<DiscoverDetail> {
  requireDiscover(call);
  const place = await placeOf(call, query);
  const start = await startOf(call, partsOf(titleId));
  const means = { catalogues: call.deps.catalogues, signal: call.signal };
  const { id, facts: outside, states } = await currentTitle(call, { means, place }, start);
  const around = await aroundTitles(call, [id], place.country);
  const item = around.here.get(id);
  if (!item && !allows(call.who.sees, outside, place.country)) throw notFound();
  const own = item && (await itemTitle(call, item.id));
  const facts = own
    ? (together([
        { provider: 'local', title: own.title },
        { provider: 'tmdb', title: outside },
      ]) ?? outside)
    : outside;
  await followUp(call, id);
  const sources = await sourcesOf(call, states);
  const availability = {
    country: place.country,
    offers: around.offers.get(id) ?? [],
    sources,
    attribution: attributionOf(sources),
  };
  const [people, similarHere] = await Promise.all([peopleOf(call, facts.people ?? []), similarTo(call, facts, item)]);
  return {
    ...toTitle({ id, facts }, around),
    ...more(facts),
    people,
    externalIds: externalIds(around.ids.get(id)),
    availability,
    similarHere,
  };
}

/** The picture of a title that a person looks at is fetched. */
async function followUp(call: Call, id: string): Promise<void> {
  await noteUsed(call.db, id);
  if (await lacksPoster(call.db, id))
    await call.enqueue('discover.refresh', { posters: true }, { key: 'discover.posters', cause: 'system' });
}

function more({ tagline, countries = [], languages = [], seasons, trailers = [], homepage }: ListedTitle) {
  return {
    ...known<{ tagline?: string; homepage?: string }>({ tagline, homepage }),
    countries,
    languages,
    trailers,
    ...(seasons && { seasons }),
  };
}

function externalIds(ids: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(ids).filter(([scheme]) => scheme !== 'item'));
}

interface PersonRow {
  provider: string;
  value: string;
  id: string;
  portrait: ImageRef | null;
}

/** People, with those whom the caller can see on this server. */
async function peopleOf({ db, who }: Call, people: readonly ListedPerson[]): Promise<DiscoverDetail['people']> {
  const pairs = people.flatMap(({ ids = {} }) => Object.entries(ids).map(([provider, value]) => ({ provider, value })));
  const rows = (await db
    .from('person_ids as o')
    .join('people as p', 'p.id', 'o.person_id')
    .joinRaw(
      'join jsonb_to_recordset(?::jsonb) as w(provider text, value text) on w.provider = o.provider and w.value = o.value',
      [JSON.stringify(pairs)],
    )
    .modify((query) => onlyVisiblePeople(query, { db, who }))
    .select('o.provider', 'o.value', 'p.id', 'p.portrait')) as PersonRow[];
  return people.slice(0, 20).map(({ name, role, ids = {} }) => {
    const row = rows.find(({ provider, value }) => ids[provider] === value);
    return { name, role, ...(row && { personId: row.id }), ...(row?.portrait && { portrait: row.portrait }) };
  });
}

/** Similar items of the item, else items with the most of its genres. */
async function similarTo(call: Call, facts: ListedTitle, item: ItemSummary | undefined): Promise<ItemSummary[]> {
  const { db, who } = call;
  const visible = item && (await findVisibleItem(db, who, item.id));
  const ids = visible ? (await listSimilar(call, visible, {})).map(({ id }) => id) : await ofGenres(call, facts);
  return listSummaries(db, who, ids.slice(0, MOST_SIMILAR));
}

async function ofGenres({ db, who }: Call, { kind, genres = [] }: ListedTitle): Promise<string[]> {
  if (genres.length === 0) return [];
  const rows = (await visibleItems(db, who)
    .join('item_tags as g', 'g.item_id', 'i.id')
    .where({ 'i.type': kind, 'g.kind': 'genre' })
    .whereNull('i.extra_of')
    .whereRaw('g.name_folded = any(array(select foyer_fold(w) from unnest(?::text[]) as w))', [genres])
    .groupBy('i.id')
    .orderByRaw('count(*) desc, max(i.rating) desc nulls last, i.id')
    .limit(MOST_SIMILAR)
    .select('i.id')) as { id: string }[];
  return rows.map(({ id }) => id);
}
