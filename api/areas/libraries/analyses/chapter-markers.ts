import type { Db } from '#platform/db.ts';
import type { AnalysisName } from './kinds.ts';

interface Named {
  kind: 'intro' | 'recap' | 'credits';
  analysis: AnalysisName;
  /** Folded titles of such chapters. */
  titles: readonly string[];
}

const NAMED: readonly Named[] = [
  {
    kind: 'intro',
    analysis: 'introDetection',
    titles: [
      ...['intro', 'introduction', 'op', 'opening', 'opening credits', 'opening titles', 'opening theme', 'main title'],
      ...['main titles', 'title sequence', 'theme song', 'vorspann', 'generique', 'sigla', 'cabecera'],
    ],
  },
  {
    kind: 'recap',
    analysis: 'introDetection',
    titles: ['recap', 'previously', 'previously on', 'ruckblick', 'resume'],
  },
  {
    kind: 'credits',
    analysis: 'creditsDetection',
    titles: [
      ...['credits', 'end credits', 'ending credits', 'closing credits', 'end titles', 'closing titles', 'credit roll'],
      ...['ed', 'ending', 'outro', 'abspann', 'generique de fin', 'titoli di coda', 'creditos', 'creditos finales'],
    ],
  },
];

/** Longest intro or recap that a chapter names. */
const MOST_MS = 4 * 60_000;

/**
 * Marks the chapters of queued files that are named like an intro, a recap or credits, and ends their analysis: nothing
 * of these files is read. Returns the files whose credits were marked.
 */
export async function markByChapters(db: Db, libraryId: string, names: readonly AnalysisName[]): Promise<number> {
  let credits = 0;
  for (const named of NAMED.filter(({ analysis }) => names.includes(analysis))) {
    const marked = await mark(db, libraryId, named);
    if (named.kind === 'credits') credits += marked;
  }
  return credits;
}

/** The last such chapter of the second half; or the first one of the first half. */
async function mark(db: Db, libraryId: string, { kind, analysis, titles }: Named): Promise<number> {
  const isEnd = kind === 'credits';
  const { rows } = await db.raw<{ rows: { file_id: string }[] }>(
    `insert into markers (id, item_id, file_id, kind, start_ms, end_ms, source, confidence)
     select gen_random_uuid(), item_id, file_id, ?, start_ms, end_ms, 'chapters', 1 from (
       select distinct on (f.id) f.id as file_id, f.item_id, c.start_ms, c.end_ms
       from analyses a join media_files f on f.id = a.file_id join chapters c on c.file_id = f.id
       where a.name = ? and f.library_id = ? and not f.markers_locked and c.end_ms > c.start_ms
         and (a.state = 'queued' or ?::text = 'recap') and foyer_fold(btrim(c.title)) = any(?::text[])
         and ${isEnd ? 'c.start_ms * 2 >= f.duration_ms' : `c.start_ms * 2 < f.duration_ms and c.end_ms - c.start_ms <= ${MOST_MS}`}
         and not exists (select from markers m where m.file_id = f.id and m.kind = ?)
       order by f.id, c.number ${isEnd ? 'desc' : ''}) found
     returning file_id`,
    [kind, analysis, libraryId, kind, [...titles], kind],
  );
  if (kind !== 'recap')
    await db.raw(
      `update analyses set state = 'done', at = now() where name = ? and state = 'queued' and file_id = any(?::uuid[])`,
      [analysis, rows.map(({ file_id: id }) => id)],
    );
  return rows.length;
}
