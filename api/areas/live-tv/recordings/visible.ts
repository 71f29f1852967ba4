import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { RecordingRow } from './recordings.store.ts';

/**
 * Recordings whose channel and age rating the caller may see, over `recordings as r` and `libraries as l`. One whose channel is
 * gone: its owner, those who manage libraries, and those who see its item.
 */
export function visibleRecordings(db: Db, who: Principal): Knex.QueryBuilder {
  return db('recordings as r')
    .join('libraries as l', 'l.id', 'r.library_id')
    .whereNull('r.removed_at')
    .modify(onlyOfAge, who)
    .where((any) => {
      any.whereExists((channel) => onlyChannels(channel, who));
      any.orWhere((gone) => {
        void gone.whereNull('r.channel_id').where((seen) => onlyForViewer(seen, who));
      });
    })
    .select('r.*');
}

function onlyOfAge(query: Knex.QueryBuilder, { sees }: Principal): void {
  if (sees.hideUnrated) void query.whereNotNull('r.age_years');
  if (sees.ageLimit !== undefined) void query.whereRaw('coalesce(r.age_years, 0) <= ?', [sees.ageLimit]);
}

function onlyChannels(query: Knex.QueryBuilder, who: Principal): void {
  void query
    .from('live_channels as c')
    .join('items as i', 'i.id', 'c.id')
    .whereRaw('c.id = r.channel_id')
    .modify(onlyVisibleItems, who, 'i');
  if (!may(who, 'library:manage'))
    void query.where((shown) => {
      void shown.where('c.enabled', true).orWhereRaw('r.account_id = ?', [who.accountId]);
    });
}

function onlyForViewer(query: Knex.QueryBuilder, who: Principal): void {
  void query.whereRaw(
    may(who, 'library:manage') ? 'true' : 'r.account_id = ?',
    may(who, 'library:manage') ? [] : [who.accountId],
  );
  void query.orWhereExists((item) => {
    void item.from('items as i').whereRaw('i.id = r.item_id').modify(onlyVisibleItems, who, 'i');
  });
}

/** Throws 404 for a recording that the caller may not see. */
export async function getRecordingRow({ db, who }: Pick<Call, 'db' | 'who'>, id: string): Promise<RecordingRow> {
  const [row]: RecordingRow[] = await visibleRecordings(db, who).where('r.id', id);
  if (!row) throw notFound();
  return row;
}

/** As getRecordingRow, for a change: throws 403 unless the caller owns it or manages libraries. */
export async function getOwnRecording(call: Pick<Call, 'db' | 'who'>, id: string): Promise<RecordingRow> {
  const row = await getRecordingRow(call, id);
  if (row.account_id === call.who.accountId || may(call.who, 'library:manage')) return row;
  throw new ApiError('FORBIDDEN', 'The recording belongs to another account', { permission: 'library:manage' });
}
