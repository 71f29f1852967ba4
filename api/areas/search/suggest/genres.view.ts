import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { marksIn } from '../found/marks.ts';
import type { Terms } from '../question/terms.ts';
import type { Suggestion } from '../search.schemas.ts';

/** Genres of each library that are looked at: a name after another, by their index. */
const MOST = 20;

interface Wish {
  libraryIds: readonly string[];
  terms: Terms;
  limit: number;
}

const VISIBLE = `
  with recursive name(library_id, folded, number) as (
    select l.id, (select min(t.name_folded) from item_tags t where t.library_id = l.id and t.kind = 'genre' and t.name_folded >= ?), 1
      from unnest(?::uuid[]) as l(id)
    union all select n.library_id, (select min(t.name_folded) from item_tags t
        where t.library_id = n.library_id and t.kind = 'genre' and t.name_folded > n.folded), n.number + 1
      from name n where n.folded is not null and n.number < ${MOST})
  select distinct on (n.folded) v.name
    from (select * from name where folded like ? order by folded, library_id offset 0) n cross join lateral ? as v
   order by n.folded, n.library_id limit ?`;

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
    .whereRaw(`t.library_id = n.library_id and t.kind = 'genre' and t.name_folded = n.folded`)
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i')
    .limit(1)
    .select('t.name');
  const like = `${text.replace(/[\\%_]/g, '\\$&')}%`;
  const bindings = [text, [...libraryIds], like, visible, limit] as unknown as string[];
  const { rows } = await db.raw<{ rows: { name: string }[] }>(VISIBLE, bindings);
  return rows.map(({ name }): Suggestion => {
    const { marks } = marksIn(name, { tokens: terms.tokens, open: true });
    return { kind: 'genre', text: name, marks };
  });
}
