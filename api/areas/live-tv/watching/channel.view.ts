import type { LiveSessionChannel } from '#areas/viewing/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

type ChannelRow = Row<'live_channels'>;

/** An enabled channel; a disabled one for `library:manage` alone. Throws 404. */
export async function getChannelRow(db: Db, who: Principal, id: string): Promise<ChannelRow> {
  const row = await db('live_channels').where({ id }).first();
  if (!row || (!row.enabled && !may(who, 'library:manage'))) throw notFound();
  return row;
}

/** The channel of a session. */
export async function channelOf(db: Db, who: Principal, id: string): Promise<LiveSessionChannel> {
  const row = await getChannelRow(db, who, id);
  const favorite = await db('live_favorites').where({ profile_id: who.profileId, channel_id: id }).first('channel_id');
  const recording = await db('live_streams')
    .where({ channel_id: id, ended_at: null })
    .whereRaw('recorded_until > now()')
    .first('id');
  return {
    id: row.id,
    libraryId: row.library_id,
    number: row.number,
    name: row.name,
    ...(row.call_sign && { callSign: row.call_sign }),
    kind: row.kind,
    ...(row.group_name && { group: row.group_name }),
    enabled: row.enabled,
    favorite: favorite !== undefined,
    hd: row.hd,
    drm: row.drm,
    ...(row.age_rating && { ageRating: row.age_rating }),
    ...(row.language && { language: row.language }),
    lockedFields: row.locked_fields,
    recording: recording !== undefined,
    addedAt: iso(row.added_at),
  };
}
