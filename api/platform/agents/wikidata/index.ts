import { z } from 'zod';
import type { ItemValues, NamedCredit } from '../../item-values.ts';
import type { Agent, Description, Found, Identity, Query, RemotePicture, Wanted } from '../agent.ts';
import { credits, idOf, known, names, yearOf } from '../parts.ts';
import { amountOf, Entities, type Entity, entitiesOf, itemsOf, textIn, textsOf, timeOf } from './entities.ts';

const MOST_FOUND = 20;
const MOST_LABELS = 150;
export const ITEM = /^Q\d{1,12}$/;

/** Property of the id of each provider, by type of item where providers have several. */
const PROPERTIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  movie: { imdb: 'P345', tmdb: 'P4947' },
  show: { imdb: 'P345', tmdb: 'P4983', tvdb: 'P4835' },
  artist: { musicbrainz: 'P434' },
  album: { musicbrainzReleaseGroup: 'P436' },
  book: { openlibrary: 'P648' },
  author: { openlibrary: 'P648', viaf: 'P214' },
  game: { igdb: 'P5794' },
};

/** Classes of entities that an item of a type may be; without a match the description decides. */
const WORDS: Readonly<Record<string, RegExp>> = {
  movie: /\b(?:film|movie|short)\b/i,
  show: /\b(?:series|show|miniseries|sitcom|anime)\b/i,
  artist: /\b(?:singer|band|musician|group|composer|rapper|duo|dj|orchestra)\b/i,
  album: /\b(?:album|ep|soundtrack)\b/i,
  book: /\b(?:book|novel|novella|memoir|collection|work)\b/i,
  author: /\b(?:writer|author|novelist|poet|journalist)\b/i,
  game: /\bgame\b/i,
};

const Hits = z.object({ search: z.array(z.object({ id: z.string(), description: z.string().optional() })) });
const Pages = z.object({ query: z.object({ search: z.array(z.object({ title: z.string() })) }) });

const FULL = 'labels|descriptions|aliases|claims';

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const own = idOf(wanted.ids, 'wikidata', ITEM);
  const ids = own ? [own] : await idsBy(query, wanted);
  const entities = await entitiesOf(query, ids.slice(0, MOST_FOUND), { language: wanted.language, props: FULL });
  return entities.map((entity) => foundOf(entity, wanted));
}

/** Entities by the id of another provider, else by name. */
async function idsBy(query: Query, { type, ids, title, language }: Wanted): Promise<string[]> {
  for (const [provider, property] of Object.entries(PROPERTIES[type] ?? {})) {
    const id = idOf(ids, provider, /^[\w-]{1,40}$/);
    if (!id) continue;
    const found = await query({
      path: '/w/api.php',
      query: {
        action: 'query',
        format: 'json',
        list: 'search',
        srsearch: `haswbstatement:${property}=${id}`,
        srlimit: 5,
      },
      schema: Pages,
    });
    const titles = found?.query.search.map((one) => one.title) ?? [];
    if (titles.length > 0) return titles;
  }
  const code = language.split('-')[0] ?? 'en';
  const answer = await query({
    path: '/w/api.php',
    query: {
      ...{ action: 'wbsearchentities', format: 'json', type: 'item', limit: MOST_FOUND },
      ...{ search: title.slice(0, 200), language: code, uselang: 'en' },
    },
    schema: Hits,
  });
  const words = WORDS[type];
  return (answer?.search ?? [])
    .filter(({ description }) => !words || words.test(description ?? ''))
    .map(({ id }) => id);
}

function foundOf(entity: Entity, { type, language }: Wanted): Found {
  const released = timeOf(entity, 'P577') ?? timeOf(entity, 'P580');
  const minutes = amountOf(entity, 'P2047');
  const aliases = Object.values(entity.aliases ?? {}).flatMap((all) => all.map(({ value }) => value));
  const labels = Object.values(entity.labels ?? {}).map(({ value }) => value);
  return known<Found>({
    ids: idsOf(entity, type),
    type,
    title: textIn(entity.labels, language) ?? entity.id,
    aliases: names([...labels, ...aliases]),
    originalTitle: textsOf(entity, 'P1476')[0],
    year: yearOf(released?.year),
    releasedOn: released?.day,
    overview: textIn(entity.descriptions, language),
    runtimeMs: minutes === undefined ? undefined : minutes * 60_000,
    childCounts: countsOf(entity),
    poster: pictureOf(entity)?.previewUrl,
  });
}

function countsOf(entity: Entity): Found['childCounts'] {
  const counts = { seasons: amountOf(entity, 'P2437'), episodes: amountOf(entity, 'P1113') };
  return counts.seasons === undefined && counts.episodes === undefined
    ? undefined
    : known<NonNullable<Found['childCounts']>>(counts);
}

function idsOf(entity: Entity, type: string): Record<string, string> {
  const others = Object.entries(PROPERTIES[type] ?? {}).map(([provider, property]) => [
    provider,
    textsOf(entity, property)[0],
  ]);
  return known<Record<string, string>>({ wikidata: entity.id, ...Object.fromEntries(others) });
}

/** Properties of people with the role that they mean. */
const PEOPLE: readonly (readonly [property: string, role: string])[] = [
  ['P57', 'director'],
  ['P58', 'writer'],
  ['P50', 'author'],
  ['P161', 'actor'],
  ['P725', 'voice'],
  ['P170', 'creator'],
  ['P162', 'producer'],
  ['P86', 'composer'],
  ['P344', 'cinematographer'],
  ['P1040', 'editor'],
];

async function describe(query: Query, { type, ids, language }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'wikidata', ITEM);
  if (!id || !PROPERTIES[type]) return undefined;
  const [entity] = await entitiesOf(query, [id], { language, props: FULL });
  if (!entity) return undefined;
  const linked = [...PEOPLE.map(([property]) => property), 'P136', 'P495', 'P364', 'P272', 'P123', 'P175', 'P449'];
  const wanted = linked.flatMap((property) => itemsOf(entity, property)).slice(0, MOST_LABELS);
  const others = await entitiesOf(query, wanted, { language, props: 'labels|claims' });
  const picture = pictureOf(entity);
  return { values: valuesOf(entity, { type, language, others }), pictures: picture ? [picture] : [] };
}

interface Context {
  type: string;
  language: string;
  others: readonly Entity[];
}

function valuesOf(entity: Entity, { type, language, others }: Context): ItemValues {
  const byId = new Map(others.map((one) => [one.id, one]));
  const labels = (...properties: string[]): string[] =>
    names(properties.flatMap((one) => itemsOf(entity, one)).map((id) => textIn(byId.get(id)?.labels, language)));
  const codes = (property: string, of: string, form: RegExp): string[] =>
    itemsOf(entity, property).flatMap((id) => {
      const other = byId.get(id);
      const [code] = other ? textsOf(other, of).filter((value) => form.test(value)) : [];
      return code ?? [];
    });
  const people = PEOPLE.flatMap(([property, role]) =>
    itemsOf(entity, property).flatMap((id): NamedCredit[] => {
      const name = textIn(byId.get(id)?.labels, language);
      return name ? [{ name, role, ids: { wikidata: id } }] : [];
    }),
  );
  const released = timeOf(entity, 'P577') ?? timeOf(entity, 'P580');
  const isBook = type === 'book';
  return known<ItemValues>({
    title: textIn(entity.labels, language),
    originalTitle: textsOf(entity, 'P1476')[0],
    overview: textIn(entity.descriptions, language),
    year: yearOf(released?.year),
    releasedOn: released?.day,
    status: timeOf(entity, 'P582') && type === 'show' ? 'ended' : undefined,
    genres: labels('P136'),
    studios: isBook ? [] : labels('P449', 'P272'),
    publisher: isBook ? labels('P123')[0] : undefined,
    countries: codes('P495', 'P297', /^[A-Z]{2}$/),
    originalLanguage: codes('P364', 'P218', /^[a-z]{2}$/)[0],
    authors: isBook ? labels('P50') : [],
    artists: type === 'album' ? labels('P175') : [],
    people: credits(people),
    externalIds: idsOf(entity, type),
  });
}

/** The picture of an entity at Wikimedia Commons; logos and posters are rarely free. */
function pictureOf(entity: Entity): RemotePicture | undefined {
  const [file] = textsOf(entity, 'P18');
  if (!file || file.length > 200 || !/\.(?:jpe?g|png|webp)$/i.test(file)) return undefined;
  const url = `https://commons.wikimedia.org/wiki/Special:FilePath/${encodeURIComponent(file)}`;
  return { kind: 'thumb', url: `${url}?width=1920`, previewUrl: `${url}?width=320` };
}

/** The API reports faults with status 200. */
const Fault = z.object({ error: z.object({ code: z.string() }) });

export const wikidata: Agent = {
  id: 'wikidata',
  name: 'Wikidata',
  homepage: 'https://www.wikidata.org/',
  provider: 'wikidata',
  itemTypes: ['movie', 'show', 'artist', 'album', 'book', 'author', 'game'],
  offers: ['identify', 'metadata', 'artwork', 'people'],
  address: 'https://www.wikidata.org',
  rate: { everyMs: 200, burst: 2 },
  judge: ({ status, body }) => {
    const fault = status === 200 ? Fault.safeParse(body).data?.error.code : undefined;
    if (fault === undefined) return undefined;
    if (fault === 'no-such-entity') return 'none';
    return fault === 'maxlag' || fault === 'ratelimited' ? 'rate-limited' : 'failed';
  },
  ping: {
    path: '/w/api.php',
    query: { action: 'wbgetentities', format: 'json', ids: 'Q2', props: 'labels', languages: 'en' },
    schema: Entities,
  },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
};
