import { findItemSummaries } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { findSyncs } from '#platform/subtitles/syncs.ts';
import { AS_MADE, shownAt, type Timing } from '#platform/subtitles/timing.ts';
import { marksIn, type Wanted } from '../found/marks.ts';
import type { TranscriptHit } from '../search.schemas.ts';
import type { StretchRow } from './stretches.view.ts';

/** Hits of these stretches in their order: in each the cues with most words of the question, or with `all` each cue with any. */
export async function cueHits(
  call: Pick<Call, 'db' | 'who'>,
  rows: readonly StretchRow[],
  { wanted, context, all = false }: { wanted: Wanted; context: boolean; all?: boolean },
): Promise<TranscriptHit[]> {
  const { db, who } = call;
  const summaries = await findItemSummaries(db, who, [...new Set(rows.map((row) => row.item_id))]);
  const syncs = await findSyncs(db, [...new Set(rows.map((row) => row.stream_id))]);
  return rows.flatMap((row): TranscriptHit[] => {
    const item = summaries.get(row.item_id);
    if (!item) return [];
    const { file_id: fileId, stream_id: streamId, language, generated } = row;
    const timing = syncs.get(streamId) ?? AS_MADE;
    return bestCues(row, wanted, all).map((at) => ({
      ...{ item, fileId, streamId, language, generated },
      ...cueAt(row, at, { timing, wanted, context }),
      more: 0,
    }));
  });
}

/** Places of the cues with most words of the question; of equal ones the first, or all. The overlap belongs to the stretch before. */
function bestCues({ cues, number }: StretchRow, wanted: Wanted, all: boolean): number[] {
  const covered = cues.map(([, , text], at) => (at === 0 && number > 0 ? -1 : marksIn(text, wanted).covered));
  const most = Math.max(0, ...covered);
  const best = covered.flatMap((count, at) => (count === most ? [at] : []));
  return all && most > 0 ? best : best.slice(0, 1);
}

interface Showing {
  timing: Timing;
  wanted: Wanted;
  context: boolean;
}

function cueAt({ cues, following }: StretchRow, at: number, { timing, wanted, context }: Showing) {
  const [startMs, endMs, text] = cues[at] ?? [0, 0, ''];
  const start = Math.max(0, shownAt(timing, startMs));
  const [before, after] = context ? [cues[at - 1]?.[2], cues[at + 1]?.[2] ?? following ?? undefined] : [];
  return {
    startMs: start,
    endMs: Math.max(start, shownAt(timing, startMs) + Math.round((endMs - startMs) * timing.rate)),
    text,
    marks: marksIn(text, wanted).marks,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
}
