import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { getChannel } from './channels.view.ts';

const MOST_FAVORITES = 1000;

/** Makes a channel a favourite of the profile. Throws 404, and 409 beyond 1,000. */
export async function addFavorite(call: Call, id: string): Promise<void> {
  const { db, who } = call;
  requireAllowed(who, 'liveTv');
  const row = await getChannel(call, id);
  if (row.favorite) return;
  await db.raw('select pg_advisory_xact_lock(hashtext(?))', [`live-favorites:${who.profileId}`]);
  const [counted] = await db('live_favorites').where({ profile_id: who.profileId }).count<{ n: number }[]>('* as n');
  if ((counted?.n ?? 0) >= MOST_FAVORITES)
    throw conflict('favorite-limit', `At most ${MOST_FAVORITES} favourites of a profile`);
  await db('live_favorites').insert({ profile_id: who.profileId, channel_id: id }).onConflict().ignore();
}

/** The channel is no favourite of the profile afterwards. Throws 404. */
export async function removeFavorite(call: Call, id: string): Promise<void> {
  requireAllowed(call.who, 'liveTv');
  await getChannel(call, id);
  await call.db('live_favorites').where({ profile_id: call.who.profileId, channel_id: id }).delete();
}
