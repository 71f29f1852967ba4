import { analyzeFiles } from './analysis/analyze.ts';
import { findCredits } from './analysis/credits/credits.ts';
import { findIntros } from './analysis/intros/intros.ts';
import { makePreviews } from './analysis/previews.ts';
import { findVoices } from './analysis/voice.ts';
import { fetchArtwork } from './artwork/fetch.ts';
import { makeFrames } from './artwork/frames.ts';
import { trimArtwork } from './artwork/trim.ts';
import { autoTag } from './auto-tag.ts';
import { createBackup } from './backup/create.ts';
import { verifyBackup } from './backup/verify.ts';
import { indexCustomField, purgeCustomField } from './custom-fields.ts';
import { createDiscoverRefresh } from './discover/refresh.ts';
import { changeInBulk } from './editing/bulk.ts';
import { createEmailSend } from './email/send.ts';
import { createDigests, trimLogs } from './email/upkeep.ts';
import { makeFingerprints } from './fingerprint/fingerprint.ts';
import { storeSimilarItems } from './items-similar.ts';
import { applyLabels } from './labels/apply.ts';
import { deleteLibraryRows, purgeTrash } from './library-jobs.ts';
import { findCommercials } from './live/commercials/commercials.ts';
import { finishLiveRecording } from './live/finish/finish.ts';
import { createGuideRefresh } from './live/guide/refresh.ts';
import { createLiveScan } from './live/scan.ts';
import { scheduleRecordings } from './live/schedule/schedule.ts';
import { trimLive } from './live/trim.ts';
import { analyseDatabase } from './maintenance.ts';
import { indexKeyframes } from './media-keyframes.ts';
import { createRefresh } from './metadata/refresh.ts';
import { fanOut, sweepNotifications } from './notifications/fanout.ts';
import { createPushSend } from './notifications/push-send.ts';
import { sweepObjects } from './objects-sweep.ts';
import { markMany } from './own-state.ts';
import { refreshPeople } from './people/refresh.ts';
import { tidyPeople } from './people/tidy.ts';
import { lookAtPlus } from './plus-check.ts';
import { saveMetadata } from './saving/save.ts';
import { scanLibrary } from './scan/engine/scan-library.ts';
import { readTranscripts } from './search/transcripts-job.ts';
import { optimiseSearch, rebuildSearch } from './search/upkeep.ts';
import { createSpineCheck } from './spine/check.ts';
import { createSpineImport } from './spine/import.ts';
import { rollUpStats, trimStats } from './stats-jobs.ts';
import { extractSubtitles } from './subtitles/extract-job.ts';
import { indexSubtitleFolder } from './subtitles/folder-job.ts';
import { syncSubtitle } from './subtitles/sync/sync-job.ts';
import { trimSubtitles } from './subtitles/trim.ts';
import { preparePreroll } from './transcode/preroll-job.ts';
import { expireKeys, expireSessions, trimEvents, trimPlayback } from './upkeep-jobs.ts';
import { finishUpload } from './uploads/finish.ts';
import { sweepUploads } from './uploads/sweep.ts';
import { purgeProfile, purgeUser } from './user-purge.ts';
import { createDeliver, trimWebhooks } from './webhooks/deliver.ts';
import type { Handlers } from './work.ts';

/** The handler of each kind of job. */
export const handlers = {
  'library.scan': scanLibrary,
  'library.analyze': analyzeFiles,
  'analysis.previews': makePreviews,
  'analysis.intros': findIntros,
  'analysis.credits': findCredits,
  'analysis.voice': findVoices,
  'library.fingerprint': makeFingerprints,
  'library.auto-tag': autoTag,
  'library.purge': purgeTrash,
  'library.delete': deleteLibraryRows,
  'artwork.fetch': fetchArtwork,
  'artwork.frames': makeFrames,
  'artwork.trim': trimArtwork,
  'items.similar': storeSimilarItems,
  'metadata.refresh': createRefresh(),
  'metadata.save': saveMetadata,
  'items.bulk': changeInBulk,
  'people.refresh': refreshPeople,
  'people.tidy': tidyPeople,
  'labels.apply': applyLabels,
  'live.scan': createLiveScan(),
  'custom-field.index': indexCustomField,
  'custom-field.purge': purgeCustomField,
  'media.keyframes': indexKeyframes,
  'preroll.prepare': preparePreroll,
  'search.transcripts': readTranscripts,
  'search.rebuild': rebuildSearch,
  'search.optimise': optimiseSearch,
  'subtitles.extract': extractSubtitles,
  'subtitles.sync': syncSubtitle,
  'subtitles.folder': indexSubtitleFolder,
  'subtitles.trim': trimSubtitles,
  'backup.create': createBackup,
  'backup.verify': verifyBackup,
  'playback.mark': markMany,
  'playback.trim': trimPlayback,
  'database.analyse': analyseDatabase,
  'stats.rollup': rollUpStats,
  'stats.trim': trimStats,
  'sessions.expire': expireSessions,
  'keys.expire': expireKeys,
  'plus.check': lookAtPlus,
  'events.trim': trimEvents,
  'objects.sweep': sweepObjects,
  'profile.purge': purgeProfile,
  'upload.finish': finishUpload,
  'upload.sweep': sweepUploads,
  'user.purge': purgeUser,
  'webhook.deliver': createDeliver(),
  'webhook.trim': trimWebhooks,
  'notification.fanout': fanOut,
  'notification.sweep': sweepNotifications,
  'push.send': createPushSend(),
  'email.send': createEmailSend(),
  'spine.import': createSpineImport(),
  'spine.check': createSpineCheck(),
  'discover.refresh': createDiscoverRefresh(),
  'email.digest': createDigests(),
  'logs.trim': trimLogs,
  'live.guide': createGuideRefresh(),
  'live.trim': trimLive,
  'live.finish': finishLiveRecording,
  'live.commercials': findCommercials,
  'live.schedule': scheduleRecordings,
} satisfies Handlers;
