import { requirePermission } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeChannel } from './change-channel.ts';
import { changeChannels } from './change-channels.ts';
import {
  ChannelChange,
  ChannelQuery,
  ChannelsChange,
  ChannelsChanged,
  ChannelsQuery,
  GroupList,
  GroupsQuery,
  LiveChannel,
  LiveStatus,
  TestBody,
  TestResults,
} from './channels.schemas.ts';
import { getChannel, toChannels } from './channels.view.ts';
import { addFavorite, removeFavorite } from './favorites.ts';
import { listGroups } from './groups.ts';
import { listChannels } from './list-channels.ts';
import { liveStatus } from './status.ts';
import { testChannel } from './test-channel.ts';

const views = { permission: 'library:view' } as const;
const manages = { permission: 'library:manage' } as const;

export const getLiveStatus = defineEndpoint({
  operationId: 'getLiveStatus',
  method: 'get',
  path: '/live',
  summary: 'Read the state of live television',
  description:
    'Counts only what the caller sees. Tuners and bytes of recordings are for `library:manage` or `download:own`. Without a library of type livetv `available` is false.',
  access: views,
  answer: json(200, LiveStatus),

  async handle(_input, call) {
    return liveStatus(call);
  },
});

export const listLiveChannels = defineEndpoint({
  operationId: 'listLiveChannels',
  method: 'get',
  path: '/live/channels',
  summary: 'List channels',
  description:
    'By number unless `sort` is given; 2.10 comes after 2.9, and `favorite` sorts favourites first. Disabled and encrypted channels are left out for those who do not manage libraries; `disabled` and `include=sources` need `library:manage`.',
  access: views,
  query: ChannelsQuery,
  answer: page(LiveChannel),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return listChannels(call, query);
  },
});

export const getLiveChannel = defineEndpoint({
  operationId: 'getLiveChannel',
  method: 'get',
  path: '/live/channels/:id',
  summary: 'Read a channel',
  description: 'A disabled one is 404 without `library:manage`, which `include=sources` needs too.',
  access: views,
  params: IdParams,
  query: ChannelQuery,
  answer: json(200, LiveChannel),
  errors: ['FORBIDDEN'],

  async handle({ params, query }, call) {
    requireAllowed(call.who, 'liveTv');
    if (query.include?.includes('sources')) requirePermission(call.who, 'library:manage');
    const [channel] = await toChannels(call, [await getChannel(call, params.id)], query.include);
    if (!channel) throw notFound();
    return channel;
  },
});

export const updateLiveChannel = defineEndpoint({
  operationId: 'updateLiveChannel',
  method: 'patch',
  path: '/live/channels/:id',
  summary: 'Change a channel',
  description:
    'A field that is set stays at the next scan until `unlock` names it. `sources` is the whole list in order: a source of another channel moves here, one that is left out becomes a channel of its own, and a channel without sources goes (its favourites pass on). 409 `number-taken` (`details.channelId`), 409 `channel-in-use` while a channel that would go is on. A channel that gave up all its sources is answered as the first one made of them.',
  access: manages,
  params: IdParams,
  body: ChannelChange,
  answer: json(200, LiveChannel),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['item.updated', 'item.added', 'item.deleted'],

  async handle({ params, body }, call) {
    const shown = await changeChannel(call, params.id, body);
    const [channel] = await toChannels(call, [await getChannel(call, shown)], ['sources']);
    if (!channel) throw notFound();
    return channel;
  },
});

export const updateLiveChannels = defineEndpoint({
  operationId: 'updateLiveChannels',
  method: 'post',
  path: '/live/channels/bulk',
  summary: 'Change many channels',
  description:
    'By ids, or all that match a filter (at most 50,000), in one transaction: first `merge`, then `set`, then `renumber`. Merging joins channels of different tuners, HD sources first. Numbers that others have are skipped over and listed in `conflicts`. A channel that is enabled gets a free number when its own is taken.',
  access: manages,
  body: ChannelsChange,
  answer: json(200, ChannelsChanged),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['item.updated', 'item.deleted'],

  async handle({ body }, call) {
    return changeChannels(call, body);
  },
});

export const testLiveChannel = defineEndpoint({
  operationId: 'testLiveChannel',
  method: 'post',
  path: '/live/channels/:id/test',
  summary: 'Test the sources of a channel',
  description:
    'Each source in turn, on a free slot only and 60 seconds in all; the result is kept on the source. One test of a tuner at a time. 409 `tuners-busy` when no slot is free, 502 when no worker does it. Streams by HTTP are tested: MPEG-TS, or the first segment of HLS.',
  access: manages,
  params: IdParams,
  body: TestBody,
  optionalBody: true,
  answer: json(200, TestResults),
  errors: ['CONFLICT', 'FORBIDDEN', 'PROVIDER_UNAVAILABLE'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return testChannel(call, params.id, body ?? { seconds: 5 });
  },
});

export const addLiveFavorite = defineEndpoint({
  operationId: 'addLiveFavorite',
  method: 'put',
  path: '/live/channels/:id/favorite',
  summary: 'Make a channel a favourite',
  description: "The profile's own, at most 1,000 (409 `favorite-limit`).",
  access: views,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT', 'FORBIDDEN'],

  async handle({ params }, call) {
    await addFavorite(call, params.id);
  },
});

export const removeLiveFavorite = defineEndpoint({
  operationId: 'removeLiveFavorite',
  method: 'delete',
  path: '/live/channels/:id/favorite',
  summary: 'Remove a channel from the favourites',
  description: "The profile's own.",
  access: views,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    await removeFavorite(call, params.id);
  },
});

export const listLiveGroups = defineEndpoint({
  operationId: 'listLiveGroups',
  method: 'get',
  path: '/live/groups',
  summary: 'List groups of channels',
  description:
    'By name, at most 2,000, of the channels that the caller sees; with `library:manage` also those whose channels are all disabled.',
  access: views,
  query: GroupsQuery,
  answer: json(200, GroupList),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return { items: await listGroups(call, query.libraryId) };
  },
});
