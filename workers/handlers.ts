import { storeSimilarItems } from './items-similar.ts';
import { deleteLibraryRows, purgeTrash } from './library-jobs.ts';
import { indexKeyframes } from './media-keyframes.ts';
import { fanOut, sweepNotifications } from './notifications/fanout.ts';
import { createPushSend } from './notifications/push-send.ts';
import { sweepObjects } from './objects-sweep.ts';
import { scanLibrary } from './scan/engine/scan-library.ts';
import { preparePreroll } from './transcode/preroll-job.ts';
import { expireKeys, expireSessions, markMany, trimEvents, trimPlayback } from './upkeep-jobs.ts';
import { purgeUser } from './user-purge.ts';
import { createDeliver, trimWebhooks } from './webhooks/deliver.ts';
import type { Handlers } from './work.ts';

/** What runs each kind of job. */
export const handlers = {
  'library.scan': scanLibrary,
  'library.purge': purgeTrash,
  'library.delete': deleteLibraryRows,
  'items.similar': storeSimilarItems,
  'media.keyframes': indexKeyframes,
  'preroll.prepare': preparePreroll,
  'playback.mark': markMany,
  'playback.trim': trimPlayback,
  'sessions.expire': expireSessions,
  'keys.expire': expireKeys,
  'events.trim': trimEvents,
  'objects.sweep': sweepObjects,
  'user.purge': purgeUser,
  'webhook.deliver': createDeliver(),
  'webhook.trim': trimWebhooks,
  'notification.fanout': fanOut,
  'notification.sweep': sweepNotifications,
  'push.send': createPushSend(),
} satisfies Handlers;
