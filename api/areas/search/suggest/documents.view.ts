import type { Knex } from 'knex';
import { onlyVisibleItems, visibleClasses } from '#identity/visibility.ts';
import { documents, PEOPLE, type Scope } from '../found/candidates.view.ts';
import { quoted } from '../question/lexemes.ts';
import type { Terms } from '../question/terms.ts';

/** What type-ahead reads of a document. */
export interface Document {
  id: string;
  kind: 'item' | 'person' | 'studio';
}

interface Wish {
  libraryId?: string | undefined;
  limit: number;
  /** Only these, which were the best a while ago. */
  ids?: readonly string[];
}

/** Candidates of a question that goes on. */
const MOST_MATCHING = 2000;
/** Documents in the order of weight that are looked at for a short beginning. */
const WALKED = 30_000;

const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** `scope` with people. */
const everyone = (scope: Scope): Scope => ({ ...scope, libraryIds: [...scope.libraryIds, PEOPLE] });

/** Restricts documents `as d` to what the caller may see: visible items, and people and studios of such. */
function onlyVisible(query: Knex.QueryBuilder, { db, who }: Scope, libraryId: string | undefined): void {
  const items = db
    .from('items as i')
    .whereRaw('i.id = d.id')
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i');
  const credited = db
    .from('credited_counts as cc')
    .whereRaw('cc.owner_id = d.id and cc.class_id = any(?)', [visibleClasses(db, who, libraryId)]);
  query.where((any) => {
    any.where((item) => {
      item.where('d.kind', 'item').whereExists(items.select(db.raw('1')));
    });
    any.orWhere((other) => {
      other.whereNot('d.kind', 'item').whereExists(credited.select(db.raw('1')));
    });
  });
}

/** Documents whose titles have all words of the question: equal titles first, then the weightiest. */
export async function matching(scope: Scope, terms: Terms, { libraryId, limit }: Wish): Promise<Document[]> {
  const { db } = scope;
  const found = withWords(scope, terms).limit(MOST_MATCHING);
  const begun = documents(everyone(scope))
    .whereRaw('d.bare like ?', [`${likeText(terms.bare)}%`])
    .orderByRaw('d.weight desc')
    .limit(200);
  for (const query of [found, begun])
    query.modify((one) => onlyVisible(one, scope, libraryId)).whereNot('d.type', 'season');
  const all = db.queryBuilder().union([found.select(COLUMNS), begun.select(COLUMNS)], true);
  return db
    .queryBuilder()
    .from(all.as('d'))
    .orderByRaw('d.bare = ? desc, d.weight desc, d.bare, d.id', [terms.bare])
    .limit(limit)
    .select<Document[]>('d.id', 'd.kind');
}

const COLUMNS = ['d.id', 'd.kind', 'd.bare', 'd.weight'];

/** A last word of one or two letters is compared in the rows that have the other words: the index has too many of it. */
function withWords(scope: Scope, { query, tokens }: Terms): Knex.QueryBuilder {
  const rows = documents(everyone(scope));
  const last = tokens.at(-1) ?? '';
  const others = tokens.slice(0, -1);
  if (others.length === 0 || last.length > 2) return rows.whereRaw('d.title_words @@ ?::tsquery', [query]);
  const words = others.map(quoted).join(' & ');
  return rows.whereRaw('d.title_words @@ ?::tsquery and d.names like ?', [words, `% ${likeText(last)}%`]);
}

/** The weightiest documents with a word of this beginning. */
export async function popular(scope: Scope, terms: Terms, { libraryId, limit, ids }: Wish): Promise<Document[]> {
  const { db } = scope;
  const begin = `% ${likeText(terms.tokens[0] ?? '')}%`;
  const wide = everyone(scope);
  if (ids) {
    const known = documents(wide)
      .whereRaw('d.id = any(?::uuid[])', [[...ids]])
      .whereRaw('d.names like ?', [begin]);
    return first(
      known.modify((one) => onlyVisible(one, scope, libraryId)),
      limit,
    );
  }
  const each = documents({ ...wide, libraryIds: [] }).clearWhere();
  const walk = each
    .whereRaw('d.library_id = l.id and d.kind = any(?::text[])', [[...scope.kinds]])
    .orderByRaw('d.weight desc, d.id')
    .limit(Math.ceil(WALKED / wide.libraryIds.length))
    .select('d.*');
  const walked = db
    .from(db.raw('unnest(?::uuid[]) as l(id)', [[...wide.libraryIds]]))
    .joinRaw('cross join lateral ? as d', [walk] as never)
    .whereRaw('d.names like ?', [begin])
    .whereNot('d.type', 'season');
  if (scope.types) walked.whereRaw('d.type = any(?::text[])', [[...scope.types]]);
  const found = await first(
    walked.modify((one) => onlyVisible(one, scope, libraryId)),
    limit,
  );
  if (found.length >= limit) return found;
  const rare = documents(wide).whereRaw('d.title_words @@ ?::tsquery', [terms.query]).whereNot('d.type', 'season');
  return first(
    rare.modify((one) => onlyVisible(one, scope, libraryId)),
    limit,
  );
}

const first = (query: Knex.QueryBuilder, limit: number): Promise<Document[]> =>
  query.orderByRaw('d.weight desc, d.bare, d.id').limit(limit).select<Document[]>('d.id', 'd.kind') as never;
