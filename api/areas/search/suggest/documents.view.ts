import type { Knex } from 'knex';
import { onlyVisibleItems, visibleClasses } from '#identity/visibility.ts';
import { documents, onlyOf, PEOPLE, type Scope } from '../found/candidates.view.ts';
import { quoted } from '../question/lexemes.ts';
import type { Terms } from '../question/terms.ts';

/** What type-ahead reads of a document. */
export interface Document {
  id: string;
  kind: 'item' | 'person' | 'studio';
}

interface Choice {
  libraryId?: string | undefined;
  limit: number;
  /** Only these, which were the best a while ago. */
  ids?: readonly string[];
}

/** Documents with all words that are put in order. So many have them only where the heaviest are known otherwise. */
const MOST_MATCHING = 10_000;
/** Documents in the order of weight that are looked at before the words are looked up, and for a short beginning. */
const WALKED = { words: 4000, beginning: 30_000 } as const;
/** Of each library at least. */
const LEAST_WALKED = 50;
const MOST_EQUAL = 200;

const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** `scope` with people. */
const everyone = (scope: Scope): Scope => ({ ...scope, libraryIds: [...scope.libraryIds, PEOPLE] });

/** Documents of the scope and of people that are suggested. */
const listed = (scope: Scope): Knex.QueryBuilder => documents(everyone(scope)).whereNot('d.type', 'season');

const narrowed = (query: Knex.QueryBuilder, scope: Scope): Knex.QueryBuilder =>
  onlyOf(query, scope).whereNot('d.type', 'season');

/**
 * Restricts documents `as d` to what the caller may see: visible items, and people and studios of such. Each is looked at when
 * its turn comes (`offset 0`): Postgres would otherwise read all visible items into a table first.
 */
function onlyVisible(query: Knex.QueryBuilder, { db, who }: Scope, libraryId: string | undefined): void {
  const items = db
    .from('items as i')
    .whereRaw('i.id = d.id')
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i')
    .select(db.raw('1'))
    .offset(db.raw('0') as never);
  const credited = db
    .from('credited_counts as cc')
    .whereRaw('cc.owner_id = d.id and cc.class_id = any(?)', [visibleClasses(db, who, libraryId)])
    .select(db.raw('1'))
    .offset(db.raw('0') as never);
  query.whereRaw(`case d.kind when 'item' then exists (?) else exists (?) end`, [items, credited] as never);
}

const COLUMNS = ['d.id', 'd.kind', 'd.bare', 'd.weight'];

interface Walk {
  walked: number;
  limit: number;
  /** Keeps documents of the question. */
  fit: (query: Knex.QueryBuilder) => unknown;
}

/** The heaviest visible documents that fit, of each library, as far as they are among its first in the order of weight. */
function heaviest(scope: Scope, { libraryId }: Choice, { walked, limit, fit }: Walk): Knex.QueryBuilder {
  const { db } = scope;
  const wide = everyone(scope);
  const walk = db
    .from('search_documents as d')
    .whereRaw('d.library_id = l.id')
    .orderByRaw('d.weight desc, d.id')
    .limit(Math.max(LEAST_WALKED, Math.ceil(walked / wide.libraryIds.length)))
    .select('d.*');
  const own = narrowed(db.from(walk.as('d')), wide)
    .modify(fit)
    .limit(limit)
    .select(COLUMNS);
  onlyVisible(own, scope, libraryId);
  return db
    .from(db.raw('unnest(?::uuid[]) as l(id)', [[...wide.libraryIds]]))
    .joinRaw('cross join lateral ? as d', [own] as never)
    .select(COLUMNS);
}

/** The visible ones of these documents in the order of suggestions: equal titles first, then the heaviest. */
function ordered(
  scope: Scope,
  of: Knex.QueryBuilder,
  { bare, libraryId }: Choice & { bare: string },
): Knex.QueryBuilder {
  const order = 'd.bare = ? desc, d.weight desc, d.bare, d.id';
  const { db } = scope;
  const sorted = db.from(of.as('d')).orderByRaw(order, [bare]).limit(MOST_MATCHING).select(COLUMNS);
  const visible = db.from(sorted.as('d')).orderByRaw(order, [bare]).select('d.id', 'd.kind');
  onlyVisible(visible, scope, libraryId);
  return visible;
}

/**
 * Documents whose titles have all words of the question. A frequent word is met soon in the order of weight; the index of
 * words is read for others, so that neither way reads very many documents.
 */
export function matching(scope: Scope, terms: Terms, choice: Choice): Knex.QueryBuilder<object, Document[]> {
  const { db } = scope;
  const met = heaviest(scope, choice, {
    ...{ walked: WALKED.words, limit: choice.limit },
    fit: (query) => query.whereRaw('d.title_words @@ ?::tsquery', [terms.query]),
  });
  const indexed = withWords(scope, terms)
    .whereRaw('(select count(*) from met) < ?', [choice.limit])
    .limit(MOST_MATCHING)
    .select(COLUMNS);
  const equal = listed(scope).where('d.bare', terms.bare).orderByRaw('d.weight desc').limit(MOST_EQUAL).select(COLUMNS);
  const all = db.from('met as d').select(COLUMNS).union([indexed, equal], true);
  return ordered(scope, all, { ...choice, bare: terms.bare })
    .with('met', met)
    .limit(choice.limit);
}

/** A last word of one or two letters is compared in the rows that have the other words: the index has too many of it. */
function withWords(scope: Scope, { query, tokens }: Terms): Knex.QueryBuilder {
  const rows = listed(scope);
  const last = tokens.at(-1) ?? '';
  const others = tokens.slice(0, -1);
  if (others.length === 0 || last.length > 2) return rows.whereRaw('d.title_words @@ ?::tsquery', [query]);
  const words = others.map(quoted).join(' & ');
  return rows.whereRaw('d.title_words @@ ?::tsquery and d.names like ?', [words, `% ${likeText(last)}%`]);
}

/** The heaviest documents with a word of this beginning. */
export async function popular(scope: Scope, terms: Terms, choice: Choice): Promise<Document[]> {
  const begin = `% ${likeText(terms.tokens[0] ?? '')}%`;
  const first = (of: Knex.QueryBuilder): Promise<Document[]> =>
    ordered(scope, of, { ...choice, bare: '' }).limit(choice.limit) as Promise<unknown> as Promise<Document[]>;
  if (choice.ids) {
    const known = listed(scope)
      .whereRaw('d.id = any(?::uuid[])', [[...choice.ids]])
      .whereRaw('d.names like ?', [begin]);
    return first(known.select(COLUMNS));
  }
  const fit = (query: Knex.QueryBuilder): unknown => query.whereRaw('d.names like ?', [begin]);
  const found = await first(heaviest(scope, choice, { walked: WALKED.beginning, limit: choice.limit, fit }));
  if (found.length >= choice.limit) return found;
  return first(listed(scope).whereRaw('d.title_words @@ ?::tsquery', [terms.query]).select(COLUMNS));
}
