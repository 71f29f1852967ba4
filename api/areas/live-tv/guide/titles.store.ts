import type { Knex } from 'knex';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** Up to this many titles are given to the list by their numbers, of which Postgres knows how many programmes each has. */
const MOST_LISTED = 500;

const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Trigrams find a part of three characters or more; a shorter text is compared with the beginning. */
const patternOf = (q: string): string => (q.length < 3 ? `${likeText(q)}%` : `%${likeText(q)}%`);

/** Restricts a query over `guide_programs as p` to those whose title, or that of the episode, contains the text. */
export async function onlyTitled(db: Db, query: Knex.QueryBuilder, q: string): Promise<void> {
  const pattern = patternOf(q);
  const rows = await rowsOf<{ id: number }>(db, 'select id from guide_titles where folded like foyer_fold(?) limit ?', [
    pattern,
    MOST_LISTED + 1,
  ]);
  if (rows.length > MOST_LISTED) {
    const matching = '(select id from guide_titles where folded like foyer_fold(?))';
    void query.whereRaw(`(p.title in ${matching} or p.episode_title in ${matching})`, [pattern, pattern]);
    return;
  }
  const ids = rows.map(({ id }) => id);
  void query.whereRaw('(p.title = any(?::bigint[]) or p.episode_title = any(?::bigint[]))', [ids, ids]);
}

/** Words of a title that must be there, and words that must not, each as a `tsquery`; the latter may be empty. */
export interface TitleWords {
  query: string;
  excluded: string;
}

/** Restricts a query over `guide_programs as p` to those with these words in the title, or in that of the episode. */
export function onlyWorded(query: Knex.QueryBuilder, { query: words, excluded }: TitleWords): void {
  const not = excluded === '' ? '' : ' and not words @@ ?::tsquery';
  const matching = `(select id from guide_titles where words @@ ?::tsquery${not})`;
  const given = [words, ...(excluded === '' ? [] : [excluded])];
  void query.whereRaw(`(p.title in ${matching} or p.episode_title in ${matching})`, [...given, ...given]);
}
