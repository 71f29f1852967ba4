import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleCopies } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { Terms } from '../question/terms.ts';

/** The `library_id` of people's documents. */
export const PEOPLE = '00000000-0000-0000-0000-000000000000';

/** Which documents may be hits, before visibility decides. */
export interface Scope {
  db: Db;
  who: Principal;
  kinds: readonly ('item' | 'person' | 'studio')[];
  /** Visible libraries; people have `PEOPLE`. */
  libraryIds: readonly string[];
  /** Item types as lists show them. */
  types?: readonly string[] | undefined;
}

type Tier = (query: Knex.QueryBuilder) => unknown;

/** Documents of the scope, as `search_documents as d`. The sight narrows them only roughly: the lists that join them decide. */
export const documents = (scope: Scope): Knex.QueryBuilder => onlyOf(scope.db.from('search_documents as d'), scope);

/** Restricts rows with the columns of documents as `d` to the scope. */
export function onlyOf(query: Knex.QueryBuilder, { who, kinds, libraryIds, types }: Scope): Knex.QueryBuilder {
  query.whereRaw('d.kind = any(?::text[])', [[...kinds]]);
  query.whereRaw('d.library_id = any(?::uuid[])', [[...libraryIds]]);
  if (types) query.whereRaw('d.type = any(?::text[])', [[...types]]);
  return query.modify(onlyVisibleCopies, who, 'd');
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/**
 * Ways to find a document, best first, each read by its own index and up to a limit: equal titles, titles that begin so,
 * all words in the title, all words anywhere.
 */
function tiersOf({ bare, query, open }: Terms): Tier[] {
  return [
    ...(bare ? [(d: Knex.QueryBuilder) => d.where('d.bare', bare)] : []),
    ...(bare && open
      ? [(d: Knex.QueryBuilder) => d.whereRaw('d.bare like ?', [`${escaped(bare)}%`]).orderByRaw('d.weight desc')]
      : []),
    (d) => d.whereRaw('d.title_words @@ ?::tsquery', [query]),
    (d) => d.whereRaw('d.words @@ ?::tsquery', [query]),
  ];
}

const MOST_ALIKE = 300;
const ALIKE = 0.35;

/**
 * Postgres takes hundreds of words for a condition that most rows meet. As an array they are read once and by their index; as
 * rows of a join they would be read again for each document.
 */
const NEAR = 'd.id = any(array(select n.id from search_documents n where n.title_words @@ ?::tsquery limit ?))';
const MOST_NEAR = 2000;

function nearTiersOf({ bare, near }: Terms): Tier[] {
  return [
    (d) => d.whereRaw(NEAR, [near, MOST_NEAR]),
    (d) => d.whereRaw('d.bare % ? and similarity(d.bare, ?) > ?', [bare, bare, ALIKE]).limit(MOST_ALIKE),
  ];
}

/** How wide a question is read: titles alone when little time is left, and alike titles too when few were found. */
export type Way = 'titles' | 'found' | 'near';

/** Each tier as a query of its own, for tests of their indexes too. */
export function tierQueries(scope: Scope, terms: Terms, { cap, way }: { cap: number; way: Way }): Knex.QueryBuilder[] {
  const found = tiersOf(terms).slice(0, way === 'titles' ? -1 : undefined);
  return [...found, ...(way === 'near' ? nearTiersOf(terms) : [])].map((tier) => {
    const query = documents(scope).select('d.id').limit(cap);
    if (terms.excluded) query.whereRaw('not d.words @@ ?::tsquery', [terms.excluded]);
    tier(query);
    return query;
  });
}

/** Ids of documents that fit the question: at most `cap` of each tier. */
export function candidateIds(scope: Scope, terms: Terms, width: { cap: number; way: Way }): Knex.QueryBuilder {
  return scope.db.queryBuilder().union(tierQueries(scope, terms, width), true);
}

const YIELDS = `case when d.type in ('season', 'episode', 'track', 'section', 'lesson', 'photo') then 0.6 else 0 end`;
const TITLED = `case when d.bare = ? then 8 when ? = any(d.alts) then 7.5 when d.bare like ? then 4
  when d.title_words @@ ?::tsquery then 2 else 0 end`;
const ALIKENESS = `similarity(d.bare, ?) + case when d.title_words @@ ?::tsquery then 0.5 else 0 end`;

/**
 * Candidates with a score as rows of `id`, `type`, `score`: the exact title, its beginning, all words in the title, then the
 * weighted rank of the text. Episodes and tracks yield to what they belong to. A question without words has all documents.
 */
export function candidates(scope: Scope, terms: Terms, width: { cap: number; way: Way }): Knex.QueryBuilder {
  const { db } = scope;
  const { bare, query, near } = terms;
  if (!query) return documents(scope).select('d.id', 'd.type', db.raw(`(d.weight - ${YIELDS})::float8 as score`));
  const alike = width.way === 'near' ? ` + ${ALIKENESS}` : '';
  const score = `(${TITLED} + ts_rank(d.words, ?::tsquery, 1)${alike} + d.weight - ${YIELDS})::float8 as score`;
  const values = [bare, bare, `${escaped(bare)}%`, query, query, ...(alike ? [bare, near] : [])];
  return db
    .from('search_documents as d')
    .whereRaw('d.id in (?)', [candidateIds(scope, terms, width) as never])
    .select('d.id', 'd.type', db.raw(score, values));
}
