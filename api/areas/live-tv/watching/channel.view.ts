import type { LiveChannel } from '#areas/viewing/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { channelsById } from '../channels/channels.view.ts';

type ChannelRow = Row<'live_channels'>;

/** An enabled channel; a disabled one for `library:manage` alone. Throws 404. */
export async function getChannelRow(db: Db, who: Principal, id: string): Promise<ChannelRow> {
  const row = await db('live_channels').where({ id }).first();
  if (!row || (!row.enabled && !may(who, 'library:manage'))) throw notFound();
  return row;
}

/** The channel of a session. Throws 404. */
export async function channelOf(call: Pick<Call, 'db' | 'who' | 'now'>, id: string): Promise<LiveChannel> {
  const channel = (await channelsById(call, [id])).get(id);
  if (!channel) throw notFound();
  return channel;
}
