import type { z } from 'zod';
import type { Db } from '#platform/db.ts';
import type { Lyrics } from '../items.schemas.ts';

type Lines = z.output<typeof Lyrics>;
const TIME = /\[(\d{1,3}):(\d{2})(?:[.:](\d{1,3}))?\]/g;

/** LRC (`[01:02.50] line`) becomes timed lines, other text plain lines. */
export function parseLyrics(text: string, source: 'sidecar' | 'tag' | 'agent'): Lines {
  const lines = text.slice(0, 200_000).split(/\r\n|\r|\n/);
  const timed = lines.flatMap(timedLines).sort((a, b) => a.startMs - b.startMs);
  if (timed.length > 0) return { synced: true, lines: timed, source };
  return { synced: false, lines: lines.map((line) => ({ text: line })), source };
}

/** A line may have several times, because a refrain is written once. */
function timedLines(line: string): { startMs: number; text: string }[] {
  const text = line.replace(TIME, '').trim();
  return [...line.matchAll(TIME)].map(([, minutes, seconds, fraction = '0']) => ({
    startMs: Number(minutes) * 60_000 + Number(seconds) * 1000 + Math.round(Number(`0.${fraction}`) * 1000),
    text,
  }));
}

/** Lyrics in the tags of a track's file, or an empty list. */
export async function findLyrics(db: Db, itemId: string): Promise<Lines> {
  const row: { text: string | null } | undefined = await db('media_files as f')
    .where({ 'f.item_id': itemId, 'f.ignored': false })
    .orderByRaw('f.missing_since is not null, f.edition_rank, f.id')
    .select(
      db.raw(`(select value from jsonb_each_text(case when jsonb_typeof(f.probe -> 'tags') = 'object' then f.probe -> 'tags'
        else '{}' end) where key ~ '^(synced|unsynced|)lyrics(-.*|)$' order by key limit 1) as text`),
    )
    .first();
  return row?.text ? parseLyrics(row.text, 'tag') : { synced: false, lines: [] };
}
