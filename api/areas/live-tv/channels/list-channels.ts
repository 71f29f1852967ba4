import { may, requirePermission } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { parseFilter } from '#kernel/filter.ts';
import { pageOf, parseSort } from '#kernel/page.ts';
import { channelFields, filtered } from './channel-filter.ts';
import { type ChannelsQuery, channelSorts } from './channels.schemas.ts';
import { type ShownChannel, toChannels, visibleChannels } from './channels.view.ts';

/** A page of channels. Throws 403 for what only those who manage libraries may read. */
export async function listChannels(call: Call, query: ChannelsQuery) {
  const { db, who, deps } = call;
  requireAllowed(who, 'liveTv');
  const { cursor, limit, sort, filter, include, q, disabled = false } = query;
  if (disabled || include?.includes('sources')) requirePermission(who, 'library:manage');
  const channels = visibleChannels(db, who, { disabled }).modify(filtered(parseFilter(filter, channelFields), who));
  if (!may(who, 'library:manage')) channels.where('c.drm', false);
  if (q !== undefined) channels.whereRaw(`(foyer_fold(c.name) like foyer_fold(?) or c.number = ?)`, [likeOf(q), q]);
  const found = await pageOf<ShownChannel, ShownChannel>(db, channels, {
    ...{ keys: deps.keys, cursor, limit, idColumn: 'c.id', toItem: (row) => row },
    terms: parseSort(sort, channelSorts, 'number'),
    scope: JSON.stringify(['listLiveChannels', who.profileId, filter, q, disabled]),
  });
  return { items: await toChannels(call, found.items, include), page: found.page };
}

const likeOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
