import type { Knex } from 'knex';
import { type LibraryRow, listed, rulesFor } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Terms } from '../question/terms.ts';

/** A stretch with words of the question. */
export interface StretchRow {
  id: string;
  number: number;
  stream_id: string;
  file_id: string;
  item_id: string;
  language: string;
  generated: boolean;
  cues: [startMs: number, endMs: number, text: string][];
  /** The cue after the last one. */
  following: string | null;
  rank: number;
  /** Stretches of the item that match. */
  found: number;
}

export interface Narrowing {
  terms: Terms;
  libraries: readonly LibraryRow[];
  itemId?: string | undefined;
  language?: string | undefined;
  filter?: string | undefined;
}

/** Stretches that are looked at, whatever they are in. */
const CAP = 3000;

/** The stretches of the text index, as `transcripts as t` and `transcript_tracks as k`, before visibility decides. */
export function matchingStretches(
  { db }: Pick<Call, 'db'>,
  { terms, libraries, itemId, language }: Narrowing,
): Knex.QueryBuilder {
  const searched = libraries.filter(
    ({ settings }) => (settings as { searchTranscripts?: boolean }).searchTranscripts !== false,
  );
  const query = db
    .from('transcripts as t')
    .join('transcript_tracks as k', 'k.stream_id', 't.stream_id')
    .whereRaw('t.library_id = any(?::uuid[])', [searched.map(({ id }) => id)])
    // a cue of the stretch before is found there
    .whereRaw('t.words @@ ?::tsquery and t.words @@ ?::tsquery', [terms.query, terms.some])
    .limit(CAP);
  if (terms.excluded) query.whereRaw('not t.words @@ ?::tsquery', [terms.excluded]);
  if (language !== undefined) query.whereRaw(`(k.language = ? or k.language like ?)`, [language, `${language}-%`]);
  if (itemId !== undefined) {
    query.whereRaw(
      `k.item_id in (select id from items where id = :itemId::uuid union all select id from items where parent_id = :itemId::uuid
         union all select id from items where grandparent_id = :itemId::uuid)`,
      { itemId },
    );
  }
  return query;
}

const COLUMNS = [
  't.id',
  't.library_id',
  't.number',
  't.stream_id',
  't.start_ms',
  't.cues',
  'k.file_id',
  'k.item_id',
  'k.language',
  'k.generated',
];

/** Visible stretches with their place among those of their item, as `h`. */
export function visibleStretches(call: Call, narrowing: Narrowing, perItem: number): Knex.QueryBuilder {
  const { db } = call;
  const rank = db.raw('ts_rank(t.words, ?::tsquery, 1)::float8 as rank', [narrowing.terms.query]);
  const some = matchingStretches(call, narrowing)
    .select(...COLUMNS, rank)
    .as('t');
  const listing = { types: [], narrow: (query: Knex.QueryBuilder) => query.join(some as never, 't.item_id', 'i.id') };
  const placed = listed(call, listing, rulesFor(call, [], narrowing.filter)).select(
    't.*',
    'i.sort_title',
    db.raw('row_number() over (partition by t.item_id order by t.rank desc, t.start_ms, t.id) as place'),
    db.raw('count(*) over (partition by t.item_id)::int as found'),
  );
  const following = `(select n.cues -> 1 ->> 2 from transcripts n
    where n.library_id = h.library_id and n.stream_id = h.stream_id and n.number = h.number + 1) as following`;
  return db.queryBuilder().from(placed.as('h')).where('h.place', '<=', perItem).select('h.*', db.raw(following));
}
