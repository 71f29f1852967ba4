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

const NEXT = `
  with recursive name(library_id, folded, number) as (
    select l.id, (select min(t.name_folded) from item_tags t where t.library_id = l.id and t.kind = 'genre' and t.name_folded >= :begin), 1
      from unnest(:libraries::uuid[]) as l(id)
    union all select n.library_id, (select min(t.name_folded) from item_tags t
        where t.library_id = n.library_id and t.kind = 'genre' and t.name_folded > n.folded), n.number + 1
      from name n where n.folded is not null and n.number < :most)
  select distinct on (n.folded) n.library_id, n.folded from name n where n.folded like :like order by n.folded, n.library_id`;

/** Genres of visible items that begin like the question. */
export async function genreSuggestions(
  { db, who }: Pick<Call, 'db' | 'who'>,
  { libraryIds, terms, limit }: Wish,
): Promise<Suggestion[]> {
  const text = terms.tokens.join(' ');
  if (text.length < 2 || libraryIds.length === 0) return [];
  const values = { libraries: [...libraryIds], begin: text, like: `${text.replace(/[\\%_]/g, '\\$&')}%`, most: MOST };
  const { rows } = await db.raw<{ rows: { library_id: string; folded: string }[] }>(NEXT, values);
  const shown: ({ name: string } | undefined)[] = [];
  for (const { library_id: libraryId, folded } of rows.slice(0, limit)) {
    const visible = db
      .from('item_tags as t')
      .join('items as i', 'i.id', 't.item_id')
      .where({ 't.library_id': libraryId, 't.kind': 'genre', 't.name_folded': folded })
      .whereNull('i.extra_of')
      .modify(onlyVisibleItems, who, 'i');
    shown.push(await visible.first<{ name: string } | undefined>('t.name'));
  }
  return shown.flatMap((row): Suggestion[] =>
    row
      ? [{ kind: 'genre', text: row.name, marks: marksIn(row.name, { tokens: terms.tokens, open: true }).marks }]
      : [],
  );
}
