import { z } from 'zod';
import { bytes, defineEndpoint, json } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import { openToReceivers } from '../receivers.ts';
import { sendObject } from '../segments/segments.ts';
import { PrerollDraft, PrerollSettings } from '../streaming.schemas.ts';
import { findClip, findClips, prerollKey, replaceClips, toClips } from './preroll.store.ts';
import { prerollRules } from './preroll.ts';
import { clipAge } from './preroll.view.ts';

export const getPrerollSettings = defineEndpoint({
  operationId: 'getPrerollSettings',
  method: 'get',
  path: '/preroll',
  summary: 'Read which clips run before films',
  description: 'Players do not need this: startPlayback with `preroll` returns the clips to play.',
  access: { permission: 'settings:manage' },
  answer: json(200, PrerollSettings),

  async handle(_input, call) {
    return { ...prerollRules(call.deps.settings), clips: toClips(await findClips(call.db)) };
  },
});

export const setPrerollSettings = defineEndpoint({
  operationId: 'setPrerollSettings',
  method: 'put',
  path: '/preroll',
  summary: 'Replace which clips run before films',
  description:
    'A job prepares each new clip for playback on every client; a clip that is not ready is skipped. The rules apply to the next playback.',
  access: { permission: 'settings:manage' },
  body: PrerollDraft,
  answer: json(200, PrerollSettings),
  emits: ['settings.changed'],

  async handle({ body: { clips, ...rules } }, call) {
    const { db, deps } = call;
    for (const clipId of await replaceClips(db, clips)) {
      await call.enqueue('preroll.prepare', { clipId }, { key: `preroll.prepare ${clipId}` });
    }
    await saveSettings(db, { 'playback.preroll': rules }, call.who.accountId);
    await call.emit('settings.changed', { keys: ['playback.preroll'] });
    call.afterCommit(async () => {
      await deps.settings.reload();
      await announceSettings(deps.redis);
    });
    return { ...rules, clips: toClips(await findClips(db)) };
  },
});

export const streamPreroll = defineEndpoint({
  operationId: 'streamPreroll',
  method: 'get',
  path: '/preroll/:id/stream',
  summary: 'Read a clip that runs before films',
  description:
    'The caller needs no access to the library of the clip, but a clip above their age limit is 404. It opens no playback session, counts towards no limit and changes no progress.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: IdParams,
  query: z.object({ ticket: z.string().max(2000).optional().describe('Cast ticket') }),
  answer: bytes('video/mp4'),
  errors: ['RANGE_NOT_SATISFIABLE'],

  async handle({ params, query }, call) {
    const clip = await findClip(call.db, params.id);
    const limit = call.who.sees.ageLimit;
    if (clip?.state !== 'ready') throw notFound();
    if (limit !== undefined && (await clipAge(call.db, clip)) > limit) throw notFound();
    openToReceivers(call, query.ticket);
    const cacheControl = 'private, max-age=3600';
    return sendObject(call, { bucket: 'foyer-derived', key: prerollKey(clip.id), type: 'video/mp4', cacheControl });
  },
});
