import { storeSimilarItems } from './items-similar.ts';
import { deleteLibraryRows, purgeTrash } from './library-jobs.ts';
import { indexKeyframes } from './media-keyframes.ts';
import { scanLibrary } from './scan/engine/scan-library.ts';
import { preparePreroll } from './transcode/preroll-job.ts';
import { expireKeys, expireSessions, markMany, trimEvents, trimPlayback } from './upkeep-jobs.ts';
import { purgeUser } from './user-purge.ts';
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
  'user.purge': purgeUser,
} satisfies Handlers;
