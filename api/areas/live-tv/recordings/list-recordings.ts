import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { parseFilter } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { recordingFields, recordingSorts } from './recording-fields.ts';
import type { Recording, RecordingsQuery } from './recordings.schemas.ts';
import type { RecordingRow } from './recordings.store.ts';
import { toRecordings } from './recordings.view.ts';
import { visibleRecordings } from './visible.ts';

/** A page of the recordings that the caller may see. */
export async function listRecordingsOf(
  call: Call,
  { mine = false, q, sort, filter, cursor, limit }: RecordingsQuery,
): Promise<{ items: Recording[]; page: Page }> {
  const { db, who, now, deps } = call;
  requireAllowed(who, 'liveTv');
  const rows = visibleRecordings(db, who);
  if (mine) rows.where('r.account_id', who.accountId);
  if (q !== undefined)
    rows.whereRaw('(foyer_fold(r.title) like foyer_fold(?) or foyer_fold(r.episode_title) like foyer_fold(?))', [
      likeOf(q),
      likeOf(q),
    ]);
  applyRules(rows, parseFilter(filter, recordingFields), { fields: recordingFields, context: { who, now } });
  const found = await pageOf<RecordingRow, RecordingRow>(db, rows, {
    ...{ keys: deps.keys, cursor, limit, idColumn: 'r.id', toItem: (row) => row },
    terms: parseSort(sort, recordingSorts, '-startAt'),
    scope: JSON.stringify(['listRecordings', who.profileId, mine, q, filter]),
  });
  return { items: await toRecordings(call, found.items), page: found.page };
}

const likeOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
