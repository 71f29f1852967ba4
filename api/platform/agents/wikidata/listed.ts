// Titles of Wikidata that are not in a library: days and places of releases, and ids under which services list them.
import { z } from 'zod';
import { knownServices, servesCountry, serviceUrl } from '../../streaming-services.ts';
import type { Agent, Query } from '../agent.ts';
import type { Days, ListedOffer, ListedRelease, ListedTitle, Place, TitleKind } from '../listed-title.ts';
import { known, names, yearOf } from '../parts.ts';
import {
  amountOf,
  dayOf,
  type Entity,
  entitiesOf,
  itemsOf,
  qualifierItems,
  statementsOf,
  textIn,
  textsOf,
  timeOf,
} from './entities.ts';
import { ITEM, wikidata } from './index.ts';

const MOST_IN_LIST = 200;
const MOST_FOUND = 10;
const MOST_LINKED = 400;

const Rows = z.object({
  results: z.object({ bindings: z.array(z.object({ item: z.object({ value: z.string() }) })) }),
});

/** The query service of Wikidata; a mirror of Wikidata has it at `/sparql` too. */
export const wikidataQueries: Agent = {
  ...wikidata,
  circuit: 'wikidata-query',
  address: 'https://query.wikidata.org',
  rate: { everyMs: 1000, burst: 2 },
  ping: { path: '/sparql', query: { format: 'json', query: 'SELECT ?item WHERE { } LIMIT 1' }, schema: Rows },
};

async function selected(query: Query, sparql: string): Promise<string[]> {
  const answer = await query({ path: '/sparql', query: { format: 'json', query: sparql }, schema: Rows });
  const ids = (answer?.results.bindings ?? []).map(({ item }) => item.value.slice(item.value.lastIndexOf('/') + 1));
  return [...new Set(ids)].filter((id) => ITEM.test(id)).slice(0, MOST_IN_LIST);
}

/** Films with a dated release in the country. `query` is one of the query service. */
export const filmsReleasedIn = (query: Query, country: string, { from, to }: Days): Promise<string[]> =>
  selected(
    query,
    `SELECT DISTINCT ?item WHERE {
  ?item p:P577 ?release . ?release psv:P577 [ wikibase:timeValue ?day ; wikibase:timePrecision 11 ] ; pq:P291 ?place .
  ?place wdt:P297 "${country}" .
  FILTER(?day >= "${from}T00:00:00Z"^^xsd:dateTime && ?day <= "${to}T00:00:00Z"^^xsd:dateTime)
  ?item wdt:P31/wdt:P279* wd:Q11424 .
} LIMIT ${MOST_IN_LIST}`,
  );

/** Titles since a day that a service lists. `query` is one of the query service. */
export function titlesListed(query: Query, from: string): Promise<string[]> {
  const properties = knownServices.flatMap(({ ids }) => ids.map(({ property }) => `wdt:${property}`));
  return selected(
    query,
    `SELECT DISTINCT ?item WHERE {
  VALUES ?property { ${[...new Set(properties)].join(' ')} }
  ?item ?property ?id . ?item wdt:P577|wdt:P580 ?day .
  FILTER(?day >= "${from}T00:00:00Z"^^xsd:dateTime)
} LIMIT ${MOST_IN_LIST}`,
  );
}

const Hits = z.object({ search: z.array(z.object({ id: z.string(), description: z.string().optional() })) });
const WORDS: Readonly<Record<TitleKind, RegExp>> = {
  movie: /\b(?:film|movie|short)\b/i,
  show: /\b(?:series|show|miniseries|sitcom|anime)\b/i,
};

/** Ids of titles with such a name. */
export async function wikidataIdsFound(query: Query, { language }: Place, q: string): Promise<string[]> {
  const answer = await query({
    path: '/w/api.php',
    query: {
      ...{ action: 'wbsearchentities', format: 'json', type: 'item', limit: 20 },
      ...{ search: q.slice(0, 200), language: language.split('-')[0] ?? 'en', uselang: 'en' },
    },
    schema: Hits,
  });
  const isTitle = (text = ''): boolean => WORDS.movie.test(text) || WORDS.show.test(text);
  return (answer?.search ?? [])
    .filter(({ description }) => isTitle(description))
    .map(({ id }) => id)
    .slice(0, MOST_FOUND);
}

const Pages = z.object({ query: z.object({ search: z.array(z.object({ title: z.string() })) }) });
const PROPERTIES: Readonly<Record<TitleKind, Readonly<Record<string, string>>>> = {
  movie: { imdb: 'P345', tmdb: 'P4947' },
  show: { imdb: 'P345', tmdb: 'P4983', tvdb: 'P4835' },
};

/** The entity of a title by its ids. */
export async function wikidataIdOf(
  query: Query,
  kind: TitleKind,
  ids: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const own = ids['wikidata'];
  if (own !== undefined) return ITEM.test(own) ? own : undefined;
  for (const [scheme, property] of Object.entries(PROPERTIES[kind])) {
    const id = ids[scheme];
    if (id === undefined || !/^\w{1,40}$/.test(id)) continue;
    const srsearch = `haswbstatement:${property}=${id}`;
    const answer = await query({
      path: '/w/api.php',
      query: { action: 'query', format: 'json', list: 'search', srsearch, srlimit: 5 },
      schema: Pages,
    });
    const [first] = answer?.query.search ?? [];
    if (first && ITEM.test(first.title)) return first.title;
  }
  return undefined;
}

/** The titles among these entities. */
export async function wikidataTitles(
  query: Query,
  { country, language }: Place,
  ids: readonly string[],
): Promise<ListedTitle[]> {
  const entities = await entitiesOf(query, ids, { language, props: 'labels|descriptions|claims' });
  const linked = entities.flatMap((one) => [
    ...LINKED.flatMap((property) => itemsOf(one, property)),
    ...statementsOf(one, 'P577').flatMap((statement) => qualifierItems(statement, 'P291')),
  ]);
  const others = await entitiesOf(query, [...new Set(linked)].slice(0, MOST_LINKED), {
    language,
    props: 'labels|claims',
  });
  const byId = new Map(others.map((one) => [one.id, one]));
  return entities.flatMap((one) => titleOf(one, { country, language, byId }) ?? []);
}

/** Ratings of film boards by country. */
const BOARDS: readonly (readonly [property: string, country: string])[] = [
  ['P1981', 'DE'],
  ['P2629', 'GB'],
  ['P1657', 'US'],
];
const PEOPLE: readonly (readonly [property: string, role: string])[] = [
  ['P57', 'director'],
  ['P58', 'writer'],
  ['P170', 'creator'],
  ['P161', 'actor'],
];
const LINKED = [
  'P136',
  'P495',
  'P364',
  ...PEOPLE.map(([property]) => property),
  ...BOARDS.map(([property]) => property),
];
const MOST_PEOPLE = 20;

interface Context extends Place {
  byId: ReadonlyMap<string, Entity>;
}

function titleOf(entity: Entity, context: Context): ListedTitle | undefined {
  const { country, language, byId } = context;
  const kind = kindOf(entity);
  const title = textIn(entity.labels, language);
  if (!kind || title === undefined) return undefined;
  const labels = (property: string): string[] =>
    names(itemsOf(entity, property).map((id) => textIn(byId.get(id)?.labels, language)));
  const codes = (property: string, of: string): string[] =>
    itemsOf(entity, property).flatMap((id) => textsOf(byId.get(id) ?? { id }, of)[0] ?? []);
  const released = timeOf(entity, 'P577') ?? timeOf(entity, 'P580');
  const minutes = amountOf(entity, 'P2047');
  return known<ListedTitle>({
    ...{ kind, ids: idsOf(entity, kind), title, originalTitle: textsOf(entity, 'P1476')[0], genres: labels('P136') },
    ...{ year: yearOf(released?.year), releasedOn: released?.day, overview: textIn(entity.descriptions, language) },
    ageRating: ageRatingOf(entity, context),
    runtimeMs: minutes === undefined || kind === 'show' ? undefined : Math.round(minutes * 60_000),
    ...{ releases: releasesOf(entity, country, byId), offers: offersOf(entity, kind, country) },
    ...{ countries: codes('P495', 'P297'), languages: codes('P364', 'P218') },
    people: PEOPLE.flatMap(([property, role]) =>
      itemsOf(entity, property).flatMap((id) => {
        const name = textIn(byId.get(id)?.labels, language);
        return name === undefined ? [] : [{ name, role, ids: { wikidata: id } }];
      }),
    ).slice(0, MOST_PEOPLE),
  });
}

/** By its statements, else by its English description. */
function kindOf(entity: Entity): TitleKind | undefined {
  const has = (...all: string[]): boolean => all.some((property) => statementsOf(entity, property).length > 0);
  if (has('P4983', 'P4835', 'P2437', 'P1113')) return 'show';
  if (has('P4947')) return 'movie';
  const text = textIn(entity.descriptions, 'en') ?? '';
  if (WORDS.show.test(text)) return 'show';
  return WORDS.movie.test(text) ? 'movie' : undefined;
}

function idsOf(entity: Entity, kind: TitleKind): Record<string, string> {
  const others = Object.entries(PROPERTIES[kind]).map(([scheme, property]) => [scheme, textsOf(entity, property)[0]]);
  return known<Record<string, string>>({ wikidata: entity.id, ...Object.fromEntries(others) });
}

/** The rating of the country's board, else one of another with its country. */
function ageRatingOf(entity: Entity, { country, byId }: Context): string | undefined {
  const all = BOARDS.flatMap(([property, of]) => {
    const [id] = itemsOf(entity, property);
    const rating = id && textIn(byId.get(id)?.labels, 'en');
    return rating ? [{ of, rating }] : [];
  });
  const own = all.find(({ of }) => of === country);
  const [other] = all;
  return own?.rating ?? (other && `${other.of}:${other.rating}`);
}

/** Ways of distribution that are no cinema. */
const FORMATS: Readonly<Record<string, ListedRelease['kind']>> = {
  ...{ Q5294: 'disc', Q47770: 'disc', Q723685: 'digital' },
};

function releasesOf(entity: Entity, country: string, byId: Context['byId']): ListedRelease[] {
  return statementsOf(entity, 'P577').flatMap((statement) => {
    const day = dayOf(statement);
    const places = qualifierItems(statement, 'P291').flatMap((id) => textsOf(byId.get(id) ?? { id }, 'P297'));
    if (day === undefined || !places.includes(country)) return [];
    const [format] = qualifierItems(statement, 'P437').flatMap((id) => FORMATS[id] ?? []);
    return [{ kind: format ?? 'cinema', day, country, certainty: 'listed' as const }];
  });
}

/** Ids under which services list the title; whether they offer it in the country is not known. */
function offersOf(entity: Entity, kind: TitleKind, country: string): ListedOffer[] {
  return knownServices
    .filter((service) => servesCountry(service, country))
    .flatMap((service) =>
      service.ids
        .filter((one) => one.kind === 'any' || one.kind === kind)
        .flatMap(({ property, form, url }): ListedOffer[] => {
          const id = textsOf(entity, property).find((value) => form.test(value));
          const [offered] = service.kinds;
          if (id === undefined || offered === undefined) return [];
          const address = serviceUrl(service, url, id);
          const offer = {
            serviceId: service.id,
            serviceName: service.name,
            kind: offered,
            certainty: 'listed' as const,
          };
          return [address === undefined ? offer : { ...offer, url: address }];
        }),
    );
}
