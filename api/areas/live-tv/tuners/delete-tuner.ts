import { deleteChannelItems } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { orphanedBy } from '../channels/channels.store.ts';
import { markStale } from '../schedule/schedule.store.ts';
import { dropPlaylist } from './playlists.ts';
import { getTunerRow, refuseInUse, refuseManaged } from './saved.ts';
import { lockTunerRow } from './tuners.store.ts';

/** Deletes a tuner with its sources and the channels that have no other. Throws 404 and 409. */
export async function deleteTunerOf(call: Call, id: string, { force }: { force: boolean }): Promise<void> {
  const { db } = call;
  await getTunerRow(call, id);
  const row = await lockTunerRow(db, id);
  if (!row) throw notFound();
  refuseManaged(call, row, ['tuner']);
  if (!force) await refuseInUse(call, id);
  const channels = await orphanedBy(db, id);
  await deleteChannelItems(db, row.library_id, channels);
  await db('live_tuners').where({ id }).delete();
  await markStale(db);
  await audit(call, 'tuner.deleted', { tunerId: id, name: row.name });
  call.afterCommit(() => dropPlaylist(call, row.playlist_object));
}
