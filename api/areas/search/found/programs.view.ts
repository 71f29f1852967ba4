import { comingPrograms } from '#areas/live-tv/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Terms } from '../question/terms.ts';
import type { SearchHit } from '../search.schemas.ts';
import { fold, marksIn } from './marks.ts';

/** Airings that are looked at; a series has many, of which the next one is a hit. */
const MOST_AIRINGS = 100;

/** Coming programmes of the guide, the next airing of each, best title first and then by time. */
export async function programHits(
  call: Call,
  { tokens, open, query, excluded }: Terms,
  libraryId: string | undefined,
): Promise<SearchHit[]> {
  const found = await comingPrograms(call, { words: { query, excluded }, libraryId, limit: MOST_AIRINGS });
  const text = tokens.join(' ');
  const hits = new Map<string, SearchHit>();
  for (const { id, title, episodeTitle } of found) {
    const key = JSON.stringify([title, episodeTitle]);
    if (hits.has(key)) continue;
    const { marks } = marksIn(title, { tokens, open });
    hits.set(key, {
      ...{ kind: 'program', id, title, matched: 'title', score: scoreOf(plain(title), text) },
      ...(episodeTitle !== undefined && { subtitle: episodeTitle }),
      ...(marks.length > 0 && { highlight: [{ field: 'title', text: title, marks }] }),
    });
  }
  return [...hits.values()].toSorted((a, b) => b.score - a.score);
}

/** The words of a title, as those of a question are. */
const plain = (title: string): string =>
  fold(title)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Below what the library has of the same title. */
function scoreOf(title: string, text: string): number {
  if (title === text) return 7;
  return title.startsWith(text) ? 3.5 : 1.5;
}
