import { getVisibleItem, holdVisibleItem } from '#areas/items/public.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
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
import { findState, forgetPositions, writeRating } from './progress.store.ts';
import { readProgress, recordPosition, refuseBadPosition, refuseForeignFile } from './progress.ts';
import { readReading, setReading } from './reading.ts';
import { setSelected } from './select.ts';
import { emitState, ratingChanges } from './state-event.ts';
import { sync } from './sync.ts';
import { setWatched } from './watched.ts';

export const getItemProgress = defineEndpoint({
  operationId: 'getItemProgress',
  method: 'get',
  path: '/items/:id/progress',
  summary: "Read the caller's position in an item",
  description:
    'An item that was never started returns zeros. A container returns the counts of its children and the position in the next one to play.',
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
  summary: "Set the caller's position without a session",
  description:
    'Creates no history entry and no event. A position past the watched threshold marks the item as watched, and an `at` older than the stored position changes nothing. A position more than a second beyond the end is 400; an item that does not play over time is 409 `not-playable-item`.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: SetProgress,
  answer: json(200, ItemProgress),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    const item = await holdVisibleItem(call.db, call.who, params.id);
    refuseBadPosition(item, body.positionMs);
    await refuseForeignFile(call, item.id, body.fileId);
    await recordPosition(call, {
      item,
      positionMs: body.positionMs,
      durationMs: item.runtimeMs ?? 0,
      fileId: body.fileId ?? null,
      at: body.at ? new Date(body.at) : call.now,
      mayCount: false,
    });
    await emitState(call, { what: ['progress'], itemIds: [item.id] });
    return readProgress(call, item.id);
  },
});

export const clearItemProgress = defineEndpoint({
  operationId: 'clearItemProgress',
  method: 'delete',
  path: '/items/:id/progress',
  summary: "Clear the caller's position in an item",
  description:
    'Removes the playback and reading position, so that the item leaves the list to continue. Watched state, play count and rating stay. A container clears its children. The request is idempotent.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    await getVisibleItem(call.db, call.who, params.id);
    await forgetPositions(call.db, call.who, params.id);
    await emitState(call, { what: ['progress'], itemIds: [params.id] });
  },
});

export const markWatched = defineEndpoint({
  operationId: 'markWatched',
  method: 'put',
  path: '/items/:id/watched',
  summary: 'Mark an item as watched',
  description:
    'A container marks every child that the caller can see; above 20,000 children a job does it and the response is 202. Positions are cleared, and `countPlay` also counts a play. `at` must not be in the future.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: MarkWatched,
  optionalBody: true,
  answer: json(200, ItemProgress),
  also: [202],

  async handle({ params, body }, call) {
    const at = body.at ? new Date(body.at) : call.now;
    if (at > call.now) throw invalid(['body', 'at'], 'in_future', 'not in the future');
    const done = await setWatched(call, params.id, { watched: true, at, countPlay: body.countPlay });
    if (!done) call.reply.status(202);
    return readProgress(call, params.id);
  },
});

export const unmarkWatched = defineEndpoint({
  operationId: 'unmarkWatched',
  method: 'delete',
  path: '/items/:id/watched',
  summary: 'Mark an item as not watched',
  description:
    'Clears the watched state and the position; play count and history stay. A container unmarks every child that the caller can see, above 20,000 children by a job. The request is idempotent.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    await setWatched(call, params.id, { watched: false, at: call.now, countPlay: false });
  },
});

export const getReadingPosition = defineEndpoint({
  operationId: 'getReadingPosition',
  method: 'get',
  path: '/items/:id/reading',
  summary: "Read the caller's position in a book or comic",
  description: 'An item that was never opened is 404. An item without pages is 409 `not-readable-item`.',
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
  summary: "Set the caller's position in a book or comic",
  description:
    'The last page, or `finished`, marks the item as watched; turning back later does not unmark it. A page beyond the last is 400. An `at` older than the stored position changes nothing, and the response has the stored position.',
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
  description:
    'Rating and favourite belong to the profile of the caller. An absent member keeps its value, and a null `value` clears the rating.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: SetRating,
  answer: json(200, ItemRating),

  async handle({ params, body }, call) {
    const { db, who } = call;
    const item = await holdVisibleItem(db, who, params.id);
    const place = { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId };
    const row = await writeRating(db, { ...place, ...body });
    await emitState(call, { what: ratingChanges(body), itemIds: [item.id] });
    return { itemId: item.id, value: row.rating, favorite: row.favorite, ratedAt: iso(row.rated_at) };
  },
});

export const clearItemRating = defineEndpoint({
  operationId: 'clearItemRating',
  method: 'delete',
  path: '/items/:id/rating',
  summary: "Clear the caller's rating; the favourite mark stays",
  description: 'The request is idempotent, and a missing rating is no error.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const { db, who } = call;
    const item = await holdVisibleItem(db, who, params.id);
    if (!(await findState(db, who.profileId, item.id))) return;
    await writeRating(db, { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId, value: null });
    await emitState(call, { what: ['rating'], itemIds: [item.id] });
  },
});

export const syncPlayback = defineEndpoint({
  operationId: 'syncPlayback',
  method: 'post',
  path: '/playback/sync',
  summary: 'Synchronise what a device played offline',
  description:
    'Reports are applied in order and independently: one invalid report does not fail the rest. A `clientEventId` that was already applied is a duplicate, and a report older than the stored state is `older`. More than a minute of `playedMs` adds a history entry at the time of the report. In place of reports, `select` and `set` change the state of all items of a list; 409 `count-changed` when their number is no longer the expected one, and 202 with a job above 500 items.',
  access: { permission: 'library:view' },
  body: SyncPlayback,
  answer: json(200, Synced),
  also: [202],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { reports = [], select, set } = body;
    const serverTime = iso(call.now);
    if (!select || !set) return { results: await sync(call, reports), serverTime };
    const selected = await setSelected(call, select, set);
    if (selected.jobId) call.reply.status(202);
    return { results: [], ...selected, serverTime };
  },
});

export const getPlaybackPreferences = defineEndpoint({
  operationId: 'getPlaybackPreferences',
  method: 'get',
  path: '/playback/preferences',
  summary: "Read the caller's playback preferences",
  description: "Belongs to the profile of the credential. Unset fields have the server's defaults.",
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
  summary: "Change the caller's playback preferences",
  description:
    "Absent fields keep their value, and null returns a field to the server's default. Changes apply to the next playback decision. A quality above the limit of the account is stored and capped when playing.",
  access: { signedIn: true },
  body: ChangePreferences,
  answer: json(200, PlaybackPreferences),

  async handle({ body }, call) {
    const { db, who, deps } = call;
    refuseUnknownQuality(body, deps.settings.get('playback.ladder'));
    await writePreferences(db, who.profileId, body);
    await emitState(call, { what: ['preferences'], itemIds: [] });
    return readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  },
});
