import { findCollections } from '#areas/collections/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Terms } from '../question/terms.ts';
import type { SearchHit } from '../search.schemas.ts';
import { fold, marksIn } from './marks.ts';

/** Collections whose names fit that are looked at. */
const MOST = 100;
/** The letters of one word rule most names out; cutting a name into its words costs a hundred times more. */
const NAMED = `regexp_replace(c.name_folded, '[^[:alnum:]]', '', 'g') like ?
  and (select foyer_search_vector(t, 'A') || foyer_search_vector(foyer_search_joined(t), 'A')
    from foyer_search_tokens(c.name, true) t) @@ ?::tsquery`;

/** Collections that the caller sees and whose names have the words of the question, the best first. */
export async function collectionHits(call: Call, { query, tokens, open }: Terms): Promise<SearchHit[]> {
  const longest = tokens.reduce((most, one) => (one.length > most.length ? one : most), '');
  const found = await findCollections(
    call,
    (rows) =>
      void rows
        .whereRaw(NAMED, [`%${longest.replace(/[\\%_]/g, '\\$&')}%`, query])
        .orderByRaw('length(c.name), c.name_folded, c.id')
        .limit(MOST),
  );
  const text = tokens.join(' ');
  const hits = found.map(({ id, name, artwork }): SearchHit => {
    const { marks } = marksIn(name, { tokens, open });
    const image = artwork.poster ?? artwork.mosaic[0];
    return {
      ...{ kind: 'collection', id, title: name, matched: 'title', score: scoreOf(fold(name), text) },
      ...(image && { image }),
      ...(marks.length > 0 && { highlight: [{ field: 'name', text: name, marks }] }),
    };
  });
  return hits.toSorted((a, b) => b.score - a.score);
}

/** As the titles of items count: equal, begun, with all words. */
function scoreOf(name: string, text: string): number {
  if (name === text) return 8.4;
  return name.startsWith(text) ? 4.4 : 2.4;
}
