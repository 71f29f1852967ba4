import { getVisibleItem, holdVisibleItem } from '#areas/items/public.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { IdParams, iso } from '#kernel/schemas.ts';
import { readPreferences, refuseUnknownQuality, writePreferences } from './preferences.ts';
import {
  ChangePreferences,
  ItemProgress,
  ItemRating,
  MarkWatched,
  PlaybackPreferences,
  ReadingPosition,
  SetProgress,
  SetRating,
  SetReading,
  Synced,
  SyncPlayback,
} from './progress.schemas.ts';
import { findState, forgetPositions, leavesOf, markLeaves, unmarkLeaves, writeRating } from './progress.store.ts';
import { readProgress, recordPosition, refuseBadPosition, refuseStrangeFile } from './progress.ts';
import { readReading, setReading } from './reading.ts';
import { sync } from './sync.ts';

const AT_ONCE = 20_000;

export const getItemProgress = defineEndpoint({
  operationId: 'getItemProgress',
  method: 'get',
  path: '/items/:id/progress',
  summary: 'Where I am in an item',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, ItemProgress),

  async handle({ params }, call) {
    return readProgress(call, params.id);
  },
});

export const setItemProgress = defineEndpoint({
  operationId: 'setItemProgress',
  method: 'put',
  path: '/items/:id/progress',
  summary: 'Set my position without a session',
  access: { permission: 'library:view' },
  params: IdParams,
  body: SetProgress,
  answer: json(200, ItemProgress),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    const item = await holdVisibleItem(call.db, call.who, params.id);
    refuseBadPosition(item, body.positionMs);
    await refuseStrangeFile(call, item.id, body.fileId);
    await recordPosition(call, {
      item,
      positionMs: body.positionMs,
      durationMs: item.runtimeMs ?? 0,
      fileId: body.fileId ?? null,
      at: body.at ? new Date(body.at) : call.now,
      mayCount: false,
    });
    return readProgress(call, item.id);
  },
});

export const clearItemProgress = defineEndpoint({
  operationId: 'clearItemProgress',
  method: 'delete',
  path: '/items/:id/progress',
  summary: 'Forget my position',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    await getVisibleItem(call.db, call.who, params.id);
    await forgetPositions(call.db, call.who, params.id);
  },
});

async function leaves({ db, who }: Call, itemId: string): Promise<string[]> {
  await getVisibleItem(db, who, itemId);
  return leavesOf(db, who, { itemId, most: AT_ONCE });
}

export const markWatched = defineEndpoint({
  operationId: 'markWatched',
  method: 'put',
  path: '/items/:id/watched',
  summary: 'Mark as watched',
  access: { permission: 'library:view' },
  params: IdParams,
  body: MarkWatched,
  optionalBody: true,
  answer: json(200, ItemProgress),
  also: [202],

  async handle({ params, body }, call) {
    const { db, who, now, enqueue, reply } = call;
    const at = body.at ? new Date(body.at) : now;
    if (at > now) throw invalid(['body', 'at'], 'in_future', 'not in the future');
    const ids = await leaves(call, params.id);
    if (ids.length > AT_ONCE) {
      await enqueue('playback.mark', {
        profileId: who.profileId,
        itemId: params.id,
        watched: true,
        at: at.toISOString(),
        countPlay: body.countPlay,
      });
      reply.status(202);
    } else {
      await markLeaves(db, { profileId: who.profileId, leaves: ids, at, countPlay: body.countPlay });
    }
    return readProgress(call, params.id);
  },
});

export const unmarkWatched = defineEndpoint({
  operationId: 'unmarkWatched',
  method: 'delete',
  path: '/items/:id/watched',
  summary: 'Mark as not watched',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const { db, who, now, enqueue } = call;
    const ids = await leaves(call, params.id);
    if (ids.length <= AT_ONCE) return unmarkLeaves(db, { profileId: who.profileId, leaves: ids, at: now });
    await enqueue('playback.mark', {
      profileId: who.profileId,
      itemId: params.id,
      watched: false,
      at: now.toISOString(),
      countPlay: false,
    });
  },
});

export const getReadingPosition = defineEndpoint({
  operationId: 'getReadingPosition',
  method: 'get',
  path: '/items/:id/reading',
  summary: 'Where I am in a book or comic',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, ReadingPosition),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    return readReading(call, params.id);
  },
});

export const setReadingPosition = defineEndpoint({
  operationId: 'setReadingPosition',
  method: 'put',
  path: '/items/:id/reading',
  summary: 'Set my place in a book or comic',
  access: { permission: 'library:view' },
  params: IdParams,
  body: SetReading,
  answer: json(200, ReadingPosition),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    return setReading(call, params.id, body);
  },
});

export const setItemRating = defineEndpoint({
  operationId: 'setItemRating',
  method: 'put',
  path: '/items/:id/rating',
  summary: 'Rate an item or mark it as a favourite',
  access: { permission: 'library:view' },
  params: IdParams,
  body: SetRating,
  answer: json(200, ItemRating),

  async handle({ params, body }, { db, who }) {
    const item = await holdVisibleItem(db, who, params.id);
    const row = await writeRating(db, {
      profileId: who.profileId,
      itemId: item.id,
      libraryId: item.libraryId,
      ...body,
    });
    return { itemId: item.id, value: row.rating, favorite: row.favorite, ratedAt: iso(row.rated_at) };
  },
});

export const clearItemRating = defineEndpoint({
  operationId: 'clearItemRating',
  method: 'delete',
  path: '/items/:id/rating',
  summary: 'Take my rating back; the favourite mark stays',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    const item = await holdVisibleItem(db, who, params.id);
    if (!(await findState(db, who.profileId, item.id))) return;
    await writeRating(db, { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId, value: null });
  },
});

export const syncPlayback = defineEndpoint({
  operationId: 'syncPlayback',
  method: 'post',
  path: '/playback/sync',
  summary: 'Take over what a device played offline',
  access: { permission: 'library:view' },
  body: SyncPlayback,
  answer: json(200, Synced),

  async handle({ body }, call) {
    return { results: await sync(call, body.reports), serverTime: iso(call.now) };
  },
});

export const getPlaybackPreferences = defineEndpoint({
  operationId: 'getPlaybackPreferences',
  method: 'get',
  path: '/playback/preferences',
  summary: 'How I like things played',
  access: { signedIn: true },
  answer: json(200, PlaybackPreferences),

  async handle(_input, { db, who, deps }) {
    if (!who.profileId) throw notFound();
    return readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  },
});

export const updatePlaybackPreferences = defineEndpoint({
  operationId: 'updatePlaybackPreferences',
  method: 'patch',
  path: '/playback/preferences',
  summary: 'Change how I like things played',
  access: { signedIn: true },
  body: ChangePreferences,
  answer: json(200, PlaybackPreferences),

  async handle({ body }, { db, who, deps }) {
    refuseUnknownQuality(body, deps.settings.get('playback.ladder'));
    await writePreferences(db, who.profileId, body);
    return readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  },
});
