import type { Call } from '#kernel/endpoint.ts';
import { onlyUnrestricted } from './guide.ts';
import type { LiveProgram } from './programs.schemas.ts';
import { findShown, onlyInWindow, type ProgramRow, selectPrograms } from './programs.store.ts';
import { toProgram } from './programs.view.ts';
import { onlyWorded, type TitleWords } from './titles.store.ts';

interface Sought {
  words: TitleWords;
  libraryId: string | undefined;
  limit: number;
}

/** The next programmes, by start, with these words in a title, on channels and within the age limit of the caller. */
export async function comingPrograms(call: Call, { words, libraryId, limit }: Sought): Promise<LiveProgram[]> {
  const { db, who, now } = call;
  if (who.restrictions.liveTv === 'deny') return [];
  const channelIds =
    libraryId === undefined
      ? undefined
      : ((await db('live_channels').where({ library_id: libraryId }).pluck('id')) as string[]);
  const shown = await findShown(db, who, channelIds ? { channelIds } : {});
  if (shown.length === 0) return [];
  const channelOf = new Map(shown.toReversed().map(({ key, channelId }) => [key, channelId]));
  const rows = selectPrograms(db, who).whereRaw('p.channel = any(?::bigint[])', [[...channelOf.keys()]]);
  onlyInWindow(rows, { from: now, to: undefined });
  onlyUnrestricted(rows, call);
  onlyWorded(rows, words);
  const found = (await rows.orderBy([{ column: 'p.start_at' }, { column: 'p.id' }]).limit(limit)) as ProgramRow[];
  return found.map((row) => toProgram(who, row, channelOf.get(row.channel) ?? ''));
}
