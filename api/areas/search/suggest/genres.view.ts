import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { marksIn } from '../found/marks.ts';
import type { Terms } from '../question/terms.ts';
import type { Suggestion } from '../search.schemas.ts';

interface Wish {
  libraryIds: readonly string[];
  terms: Terms;
  limit: number;
}

/** A name after another of each library, by their index, until enough of them are visible. */
const VISIBLE = `
  with recursive name(library_id, folded, shown, number) as (
    select l.id, cast(null as text), cast(null as text), 0 from unnest(cast(:libraryIds as uuid[])) as l(id)
    union all select n.library_id, next.folded, v.shown, n.number + (v.shown is not null)::int
      from name n
        cross join lateral (select min(t.name_folded) as folded from item_tags t where t.library_id = n.library_id
          and t.kind = 'genre' and t.name_folded >= :begin and t.name_folded > coalesce(n.folded, '')) next
        cross join lateral (select (:visible) as shown offset 0) v
      where n.number < :limit and next.folded like :like)
  select distinct on (folded) shown as name from name where shown is not null order by folded, library_id limit :limit`;

/**
 * Genres of visible items that begin like the question. Whether one is visible is decided within the statement: a genre that only hidden
 * items have takes no place, and no statement of its own.
 */
export async function genreSuggestions(
  { db, who }: Pick<Call, 'db' | 'who'>,
  { libraryIds, terms, limit }: Wish,
): Promise<Suggestion[]> {
  const text = terms.tokens.join(' ');
  if (text.length < 2 || libraryIds.length === 0) return [];
  const visible = db
    .from('item_tags as t')
    .join('items as i', 'i.id', 't.item_id')
    .whereRaw(`t.library_id = n.library_id and t.kind = 'genre' and t.name_folded = next.folded`)
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i')
    .limit(1)
    .select('t.name');
  const like = `${text.replace(/[\\%_]/g, '\\$&')}%`;
  const bindings = { begin: text, like, libraryIds: [...libraryIds], visible, limit } as unknown as Record<
    string,
    string
  >;
  const { rows } = await db.raw<{ rows: { name: string }[] }>(VISIBLE, bindings);
  return rows.map(({ name }): Suggestion => {
    const { marks } = marksIn(name, { tokens: terms.tokens, open: true });
    return { kind: 'genre', text: name, marks };
  });
}
