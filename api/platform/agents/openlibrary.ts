import { z } from 'zod';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import type { Agent, Description, Found, Identity, Query, RemotePicture, Wanted } from './agent.ts';
import { credits, idOf, known, list, names, number, text, yearOf } from './parts.ts';

const MOST_FOUND = 20;
const TAGS = 20;
const WORK = /^OL\d{1,12}W$/;
const BOOK = /^OL\d{1,12}M$/;
const AUTHOR = /^OL\d{1,12}A$/;
const ISBN = /^(?:97[89])?\d{9}[\dX]$/;
const COVERS = 'https://covers.openlibrary.org';

/** A text, or an object with its type. */
const Prose = z
  .union([z.string(), z.object({ value: z.string() })])
  .nullish()
  .transform((value) => (typeof value === 'string' ? value : value?.value)?.trim() || undefined);
const Key = z.object({ key: z.string() });

const Doc = z.object({
  key: z.string(),
  title: text(),
  author_name: list(z.string()),
  first_publish_year: number(),
  cover_i: number(),
  isbn: list(z.string()),
  name: text(),
  alternate_names: list(z.string()),
  top_work: text(),
});
type Doc = z.output<typeof Doc>;
const Search = z.object({ docs: list(Doc) });
const Work = z.object({
  key: z.string(),
  title: text(),
  description: Prose,
  subjects: list(z.string()),
  covers: list(z.number()),
  authors: list(z.object({ author: Key.nullish() })),
  first_publish_date: text(),
});
type Work = z.output<typeof Work>;
const Edition = z.object({
  key: z.string(),
  title: text(),
  publish_date: text(),
  publishers: list(z.string()),
  covers: list(z.number()),
  isbn_13: list(z.string()),
  isbn_10: list(z.string()),
  works: list(Key),
  languages: list(Key),
});
type Edition = z.output<typeof Edition>;
const Author = z.object({
  key: z.string(),
  name: text(),
  bio: Prose,
  photos: list(z.number()),
  remote_ids: z.object({ wikidata: text(), viaf: text() }).nullish(),
});
type Author = z.output<typeof Author>;

const lastOf = (key: string): string => key.split('/').at(-1) ?? '';
const normal = (isbn: string | undefined): string | undefined => {
  const bare = isbn?.replace(/[\s-]/g, '').toUpperCase();
  return bare && ISBN.test(bare) ? bare : undefined;
};
const coverOf = (id: number, size: 'S' | 'M' | 'L'): string => `${COVERS}/b/id/${id}-${size}.jpg`;

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  if (wanted.type === 'author') return findAuthors(query, wanted);
  const own = await findByIds(query, wanted);
  if (own) return [own];
  const author = wanted.by?.[0]?.slice(0, 200);
  const answer = await query({
    path: '/search.json',
    query: {
      ...{ title: wanted.title.slice(0, 300), author, limit: MOST_FOUND },
      fields: 'key,title,author_name,first_publish_year,cover_i',
    },
    schema: Search,
  });
  return (answer?.docs ?? []).filter(({ key }) => WORK.test(lastOf(key))).map((doc) => foundDoc(doc));
}

/** The work of an ISBN or an id. */
async function findByIds(query: Query, { ids, isbn: given }: Wanted): Promise<Found | undefined> {
  const isbn = normal(given ?? ids['isbn']);
  const edition = isbn ? await query({ path: `/isbn/${isbn}.json`, schema: Edition }) : undefined;
  const fromEdition = lastOf(edition?.works[0]?.key ?? '');
  const workId = WORK.test(fromEdition) ? fromEdition : idOf(ids, 'openlibrary', WORK);
  const work = workId ? await workOf(query, workId) : undefined;
  return work && foundWork(work, edition);
}

async function findAuthors(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'openlibrary', AUTHOR);
  const author = id ? await authorOf(query, id) : undefined;
  if (author) return [known<Found>({ ids: authorIds(author), type: 'author', title: author.name ?? '' })];
  const answer = await query({
    path: '/search/authors.json',
    query: { q: wanted.title.slice(0, 200), limit: MOST_FOUND },
    schema: Search,
  });
  return (answer?.docs ?? [])
    .filter(({ key }) => AUTHOR.test(lastOf(key)))
    .map(({ key, name, alternate_names }) => ({
      ids: { openlibrary: lastOf(key) },
      type: 'author',
      title: name ?? '',
      aliases: names(alternate_names),
    }));
}

const foundDoc = ({ key, title, author_name, first_publish_year, cover_i }: Doc): Found =>
  known<Found>({
    ids: { openlibrary: lastOf(key) },
    type: 'book',
    title: title ?? '',
    by: names(author_name),
    year: first_publish_year,
    poster: cover_i && cover_i > 0 ? coverOf(cover_i, 'M') : undefined,
  });

const foundWork = (work: Work, edition: Edition | undefined): Found =>
  known<Found>({
    ids: known<Record<string, string>>({
      openlibrary: lastOf(work.key),
      openlibraryEdition: editionId(edition),
    }),
    type: 'book',
    title: edition?.title ?? work.title ?? '',
    aliases: names([work.title]),
    year: yearIn(work.first_publish_date ?? edition?.publish_date),
    isbn: edition ? [...edition.isbn_13, ...edition.isbn_10] : [],
  });

/** Dates are words of people, such as "March 1986". */
const yearIn = (value: string | undefined): number | undefined => yearOf(/\b\d{4}\b/.exec(value ?? '')?.[0]);

const workOf = (query: Query, id: string) => query({ path: `/works/${id}.json`, schema: Work });
const editionOf = (query: Query, id: string) => query({ path: `/books/${id}.json`, schema: Edition });
const authorOf = (query: Query, id: string) => query({ path: `/authors/${id}.json`, schema: Author });

async function describe(query: Query, { type, ids }: Identity): Promise<Description | undefined> {
  if (type === 'author') {
    const id = idOf(ids, 'openlibrary', AUTHOR);
    const author = id && (await authorOf(query, id));
    return author ? { values: authorValues(author), pictures: portraits(author) } : undefined;
  }
  const id = idOf(ids, 'openlibrary', WORK);
  const work = id ? await workOf(query, id) : undefined;
  if (!work) return undefined;
  const ownEdition = idOf(ids, 'openlibraryEdition', BOOK);
  const isbn = normal(ids['isbn']);
  const edition = ownEdition
    ? await editionOf(query, ownEdition)
    : isbn
      ? await query({ path: `/isbn/${isbn}.json`, schema: Edition })
      : undefined;
  const authors = await authorsOf(query, work);
  return { values: bookValues({ work, edition, authors }), pictures: pictures(work, edition) };
}

async function authorsOf(query: Query, { authors }: Work): Promise<Author[]> {
  const ids = authors.map(({ author }) => lastOf(author?.key ?? '')).filter((id) => AUTHOR.test(id));
  const found: Author[] = [];
  for (const id of ids.slice(0, 5)) {
    const author = await authorOf(query, id);
    if (author) found.push(author);
  }
  return found;
}

const authorIds = ({ key, remote_ids }: Author) =>
  known<Record<string, string>>({
    openlibrary: lastOf(key),
    wikidata: /^Q\d{1,12}$/.test(remote_ids?.wikidata ?? '') ? remote_ids?.wikidata : undefined,
  });

const authorValues = (author: Author): ItemValues =>
  known<ItemValues>({ title: author.name, overview: author.bio, externalIds: authorIds(author) });

interface Book {
  work: Work;
  edition: Edition | undefined;
  authors: readonly Author[];
}

function bookValues({ work, edition, authors }: Book): ItemValues {
  const people = authors.map(
    (author): NamedCredit => ({ role: 'author', name: author.name ?? '', ids: { openlibrary: lastOf(author.key) } }),
  );
  return known<ItemValues>({
    ...{ title: work.title, year: yearIn(work.first_publish_date), ...(edition && editionValues(work, edition)) },
    overview: work.description,
    tags: names(work.subjects, TAGS),
    authors: names(authors.map(({ name }) => name)),
    people: credits(people),
    externalIds: known<Record<string, string>>({
      openlibrary: lastOf(work.key),
      openlibraryEdition: editionId(edition),
    }),
  });
}

const editionValues = (work: Work, edition: Edition): ItemValues =>
  known<ItemValues>({
    title: edition.title ?? work.title,
    originalTitle: work.title,
    year: yearIn(edition.publish_date ?? work.first_publish_date),
    publisher: edition.publishers[0],
    isbn: [...edition.isbn_13, ...edition.isbn_10][0],
  });

const editionId = (edition: Edition | undefined): string | undefined => {
  const id = lastOf(edition?.key ?? '');
  return BOOK.test(id) ? id : undefined;
};

const pictures = (work: Work, edition: Edition | undefined): RemotePicture[] =>
  [...new Set([...(edition?.covers ?? []), ...work.covers])]
    .filter((id) => Number.isSafeInteger(id) && id > 0)
    .slice(0, 10)
    .map((id) => ({ kind: 'poster', url: coverOf(id, 'L'), previewUrl: coverOf(id, 'M') }));

const portraits = (author: Author): RemotePicture[] =>
  author.photos
    .filter((id) => Number.isSafeInteger(id) && id > 0)
    .slice(0, 5)
    .map((id) => ({ kind: 'poster', url: `${COVERS}/a/id/${id}-L.jpg`, previewUrl: `${COVERS}/a/id/${id}-M.jpg` }));

export const openlibrary: Agent = {
  id: 'openlibrary',
  name: 'Open Library',
  homepage: 'https://openlibrary.org/',
  provider: 'openlibrary',
  itemTypes: ['book', 'audiobook', 'author'],
  offers: ['identify', 'metadata', 'artwork', 'people'],
  address: 'https://openlibrary.org',
  rate: { everyMs: 1000, burst: 3 },
  ping: { path: '/works/OL45804W.json', schema: Work },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
};
