import { z } from 'zod';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import type { Agent, Description, Found, Identity, Query, Wanted } from './agent.ts';
import { credits, IMDB, idOf, known, list, names, text, yearOf } from './parts.ts';

/** `N/A` stands for an unknown value. */
const value = () => text().transform((given) => (given === 'N/A' ? undefined : given));

const Title = z.object({
  imdbID: z.string(),
  Title: value(),
  Year: value(),
  Type: value(),
  Rated: value(),
  Released: value(),
  Runtime: value(),
  Genre: value(),
  Director: value(),
  Writer: value(),
  Actors: value(),
  Plot: value(),
  Country: value(),
  Poster: value(),
  imdbRating: value(),
  totalSeasons: value(),
});
type Title = z.output<typeof Title>;
const Search = z.object({ Search: list(Title) });

const typeOf = (type: string): string => (type === 'movie' ? 'movie' : 'series');

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'imdb', IMDB);
  if (id) {
    const title = await titleOf(query, id);
    return title ? [foundOf(wanted.type, title)] : [];
  }
  const answer = await query({
    path: '/',
    query: { s: wanted.title.slice(0, 200), type: typeOf(wanted.type), y: wanted.year },
    schema: Search,
  });
  return (answer?.Search ?? []).map((title) => foundOf(wanted.type, title));
}

const titleOf = (query: Query, id: string) => query({ path: '/', query: { i: id, plot: 'full' }, schema: Title });

const foundOf = (type: string, title: Title): Found =>
  known<Found>({
    ids: { imdb: title.imdbID },
    type,
    title: title.Title ?? '',
    year: yearOf(title.Year),
    releasedOn: releaseOf(title.Released),
    overview: title.Plot,
    poster: title.Poster,
    runtimeMs: minutesOf(title.Runtime),
  });

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `15 Dec 1995` as an ISO 8601 day. */
function releaseOf(released: string | undefined): string | undefined {
  const [, day, month = '', year] = /^(\d{2}) ([A-Z][a-z]{2}) (\d{4})$/.exec(released ?? '') ?? [];
  const number = MONTHS.indexOf(month) + 1;
  return day && number > 0 ? `${year}-${String(number).padStart(2, '0')}-${day}` : undefined;
}

function minutesOf(runtime: string | undefined): number | undefined {
  const minutes = Number.parseInt(runtime ?? '', 10);
  return minutes > 0 ? minutes * 60_000 : undefined;
}

const listed = (given: string | undefined): string[] => names((given ?? '').split(', '));

async function describe(query: Query, { type, ids }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'imdb', IMDB);
  if (!id || (type !== 'movie' && type !== 'show')) return undefined;
  const title = await titleOf(query, id);
  if (!title) return undefined;
  const poster = title.Poster?.startsWith('https://') ? title.Poster : undefined;
  return { values: valuesOf(title), pictures: poster ? [{ kind: 'poster', url: poster }] : [] };
}

function valuesOf(title: Title): ItemValues {
  const rating = Number(title.imdbRating);
  const people = [
    ...listed(title.Actors).map((name): NamedCredit => ({ role: 'actor', name })),
    ...listed(title.Director).map((name): NamedCredit => ({ role: 'director', name })),
    ...listed(title.Writer).map((name): NamedCredit => ({ role: 'writer', name })),
  ];
  return known<ItemValues>({
    title: title.Title,
    overview: title.Plot,
    year: yearOf(title.Year),
    releasedOn: releaseOf(title.Released),
    ageRating: title.Rated,
    rating: rating > 0 && rating <= 10 ? rating : undefined,
    genres: listed(title.Genre),
    people: credits(people),
    externalIds: { imdb: title.imdbID },
  });
}

/** Faults come with status 200 or 401 and a text. */
const Fault = z.object({ Response: z.literal('False'), Error: z.string() });

export const omdb: Agent = {
  id: 'omdb',
  name: 'OMDb',
  homepage: 'https://www.omdbapi.com/',
  provider: 'imdb',
  itemTypes: ['movie', 'show'],
  offers: ['identify', 'metadata', 'artwork', 'people', 'ratings'],
  address: 'https://www.omdbapi.com',
  rate: { everyMs: 200, burst: 5 },
  credentials: ({ 'omdb.apiKey': key = '' }) => ({ query: { apikey: key } }),
  judge: ({ body }) => {
    const fault = Fault.safeParse(body).data?.Error.toLowerCase();
    if (fault === undefined) return undefined;
    if (fault.includes('limit')) return 'rate-limited';
    if (fault.includes('key')) return 'refused';
    return fault.includes('not found') || fault.includes('incorrect imdb') ? 'none' : 'failed';
  },
  ping: { path: '/', query: { i: 'tt0111161' }, schema: Title },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
};
