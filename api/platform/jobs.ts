import { z } from 'zod';
import { PictureStretch } from './subtitles/stretches.ts';

const Id = z.uuid();

export const queues = [
  'interactive',
  'added',
  'scan',
  'metadata',
  'artwork',
  'media',
  'analysis',
  'speech',
  'live',
  'delivery',
  'maintenance',
] as const;
export type Queue = (typeof queues)[number];

export interface JobSpec {
  queue: Queue;
  /** Absent while no served area needs the kind, which can then be neither queued nor handled. */
  payload?: z.ZodType;
  /** Run by a process of its own: the job is a record without a graphile-worker task. */
  apart?: true;
}

/** Every kind of job with its queue, and the payload of those that are queued. */
export const jobs = {
  'library.scan': { queue: 'scan', payload: z.object({ libraryId: Id, scanId: Id }) },
  /** Queues the jobs of the named analyses, as their parent. */
  'library.analyze': { queue: 'added', payload: z.object({ libraryId: Id, names: z.array(z.string()) }) },
  /** Without a library: every file that lacks the analysis, in all of them. */
  'analysis.previews': { queue: 'analysis', payload: z.object({ libraryId: Id.optional() }) },
  'analysis.intros': { queue: 'analysis', payload: z.object({ libraryId: Id.optional() }) },
  'analysis.credits': { queue: 'analysis', payload: z.object({ libraryId: Id.optional() }) },
  'analysis.voice': { queue: 'analysis', payload: z.object({ libraryId: Id.optional() }) },
  /** Without a library: every file that lacks a fingerprint. */
  'library.fingerprint': {
    queue: 'analysis',
    payload: z.object({ libraryId: Id.optional() }),
  },
  /** The request of a person, and the last item that was examined. */
  'library.auto-tag': { queue: 'metadata', payload: z.looseObject({ libraryId: Id, after: Id, accountId: Id }) },
  'library.purge': {
    queue: 'maintenance',
    /** Without a library: all items past their retention. With `files`: only moves files into the trash and out of it. */
    payload: z.object({
      libraryId: Id.optional(),
      reason: z.string().optional(),
      before: z.string().optional(),
      files: z.boolean().optional(),
    }),
  },
  'library.delete': { queue: 'maintenance', payload: z.object({ libraryId: Id }) },
  /** One item, perhaps with everything in it; or whatever is due, in a library or anywhere. */
  'metadata.refresh': {
    queue: 'metadata',
    payload: z.object({
      libraryId: Id.optional(),
      itemId: Id.optional(),
      children: z.boolean().optional(),
      options: z.record(z.string(), z.unknown()).optional(),
    }),
  },
  /** Due items of a library; with `all`, queues all of its items. */
  'metadata.save': {
    queue: 'metadata',
    payload: z.object({ libraryId: Id, all: z.array(z.enum(['nfo', 'artwork'])).optional() }),
  },
  'items.bulk': { queue: 'interactive', payload: z.object({ changeId: Id }) },
  'items.similar': {
    queue: 'analysis',
    payload: z.object({ libraryId: Id.optional(), itemId: Id.optional() }),
  },
  /** Without a library: whatever waits anywhere. */
  'artwork.fetch': {
    queue: 'artwork',
    payload: z.object({ libraryId: Id.optional() }),
  },
  /** Frames and mosaics of a library; or the mosaic of a collection; or, with a file, one frame that a person waits for. */
  'artwork.frames': {
    queue: 'artwork',
    payload: z.object({
      libraryId: Id.optional(),
      collectionId: Id.optional(),
      capture: z.object({ fileId: Id, positionMs: z.int() }).optional(),
    }),
  },
  'artwork.chapters': { queue: 'artwork' },
  'artwork.trim': { queue: 'maintenance', payload: z.object({}) },
  /** Without a person: those without facts or with old ones. */
  'people.refresh': {
    queue: 'metadata',
    payload: z.object({ personId: Id.optional(), replacePortrait: z.boolean().optional() }),
  },
  'people.tidy': { queue: 'metadata', payload: z.object({}) },
  'faces.detect': { queue: 'analysis' },
  'faces.group': { queue: 'analysis' },
  'faces.regroup': { queue: 'analysis' },
  'faces.purge': { queue: 'analysis' },
  'labels.apply': {
    queue: 'interactive',
    /** With `filter`, labels the items that match; without it, removes a deleted label. */
    payload: z.object({
      number: z.int(),
      filter: z
        .object({ libraryId: Id, filter: z.string(), action: z.enum(['add', 'remove']), accountId: Id })
        .optional(),
    }),
  },
  /** Reads the tracks of every file that is due. */
  'search.transcripts': { queue: 'maintenance', payload: z.object({}) },
  /** Writes the documents of a library again; without one, those of people. */
  'search.rebuild': { queue: 'maintenance', payload: z.object({ libraryId: Id.optional() }) },
  'search.optimise': { queue: 'maintenance', payload: z.object({}) },
  /** Texts and fonts of a film, a stretch of a picture track, or which picture tracks are forced. */
  'subtitles.extract': {
    queue: 'media',
    payload: z.object({ fileId: Id, pictures: PictureStretch.optional(), forced: z.literal(true).optional() }),
  },
  /** With the use of the daily allowance that the request spent. */
  'subtitles.sync': {
    queue: 'interactive',
    payload: z.object({ itemId: Id, streamId: Id, byAccountId: Id, useId: Id.optional() }),
  },
  'subtitles.generate': { queue: 'speech', apart: true },
  'subtitles.batch': { queue: 'speech', apart: true },
  /** Reads the folder of `subtitles.folder` into the index. */
  'subtitles.folder': { queue: 'maintenance', payload: z.object({}) },
  'subtitles.trim': { queue: 'maintenance', payload: z.object({}) },
  'media.keyframes': { queue: 'media', payload: z.object({ fileId: Id }) },
  'preroll.prepare': { queue: 'media', payload: z.object({ clipId: Id }) },
  'playback.mark': {
    queue: 'interactive',
    payload: z.object({
      profileId: Id,
      at: z.string(),
      /** One item or container with what to do to it, or a selection with the state to set. */
      itemId: Id.optional(),
      watched: z.boolean().optional(),
      countPlay: z.boolean().optional(),
      select: z
        .object({
          libraryId: Id,
          filter: z.string().optional(),
          type: z.array(z.string()).optional(),
          except: z.array(Id),
          expect: z.int(),
        })
        .optional(),
      set: z
        .object({
          watched: z.boolean().optional(),
          favorite: z.boolean().optional(),
          clearProgress: z.literal(true).optional(),
        })
        .optional(),
    }),
  },
  'playback.trim': { queue: 'maintenance', payload: z.object({}) },
  'download.prepare': { queue: 'media' },
  'download.follow': { queue: 'delivery' },
  'download.expire': { queue: 'maintenance' },
  /** Reads the channels of a tuner; or runs a sealed order that a person waits for. */
  'live.scan': {
    queue: 'live',
    payload: z.union([
      z.object({ tunerId: Id, deep: z.boolean().optional(), prune: z.boolean().optional() }),
      z.object({ order: z.string() }),
    ]),
  },
  /** Refreshes a source; or looks at the guide of a sealed order, for which a person waits. */
  'live.guide': {
    queue: 'live',
    payload: z.union([z.object({ sourceId: Id }), z.object({ order: z.string() })]),
  },
  /** The programme guide; or recordings that are beyond keepDays or keepLast. */
  'live.trim': { queue: 'maintenance', payload: z.object({ recordings: z.literal(true).optional() }) },
  'live.schedule': { queue: 'live', payload: z.object({}) },
  /** Joins the segments of an ended recording into its file. */
  'live.finish': { queue: 'live', payload: z.object({ recordingId: Id }) },
  'live.commercials': { queue: 'analysis', payload: z.object({ fileId: Id }) },
  'music.analyze': { queue: 'analysis' },
  'music.rollup': { queue: 'metadata' },
  'music.open-data': { queue: 'metadata' },
  'course.remind': { queue: 'delivery' },
  'comic.index': { queue: 'media' },
  'note.frame': { queue: 'media' },
  'custom-field.index': { queue: 'maintenance', payload: z.object({ fieldId: Id }) },
  'custom-field.purge': { queue: 'maintenance', payload: z.object({ fieldId: Id }) },
  'games.emulator': { queue: 'media' },
  'upload.finish': { queue: 'media', payload: z.object({ uploadId: Id }) },
  /** With an account, only its notification. */
  'upload.sweep': { queue: 'maintenance', payload: z.object({ accountId: Id.optional() }) },
  'home.suggest': { queue: 'analysis' },
  /** Without a place: every one in use. With `posters`: only pictures of titles that have none yet. */
  'discover.refresh': {
    queue: 'metadata',
    payload: z.object({
      place: z.object({ country: z.string(), language: z.string() }).optional(),
      posters: z.literal(true).optional(),
    }),
  },
  'watchlist.availability': { queue: 'metadata' },
  'notification.fanout': { queue: 'delivery', payload: z.object({ notice: z.unknown() }) },
  'push.send': { queue: 'delivery', payload: z.object({ subscriptionId: Id, notificationId: Id.optional() }) },
  /** A mail; or, sealed, a test to send at once or the address that requested a new password. */
  'email.send': {
    queue: 'delivery',
    payload: z.union([
      z.object({ messageId: Id }),
      z.object({ test: z.string() }),
      z.object({ reset: z.string(), requestId: Id }),
    ]),
  },
  /** Without a delivery: whatever the webhook's lane has due. */
  'webhook.deliver': {
    queue: 'delivery',
    payload: z.object({ webhookId: Id, deliveryId: Id.optional(), due: z.string().optional() }),
  },
  'email.digest': { queue: 'delivery', payload: z.object({}) },
  'notification.sweep': { queue: 'maintenance', payload: z.object({}) },
  'plugins.install': { queue: 'maintenance' },
  'plugins.check': { queue: 'maintenance' },
  'spine.import': {
    queue: 'maintenance',
    payload: z.object({
      /** Of the pack that is loaded, and of its pieces in the object store. */
      packId: Id,
      sha256: z.string(),
      importedBy: Id.nullable(),
      source: z.union([
        z.object({ url: z.string(), sizeBytes: z.int() }),
        z.object({ storageId: Id, path: z.string() }),
        z.object({ uploaded: z.literal(true) }),
        z.object({ remove: Id }),
      ]),
    }),
  },
  'spine.check': { queue: 'maintenance', payload: z.object({}) },
  'support.attachment': { queue: 'media' },
  'diagnostics.run': { queue: 'interactive' },
  'diagnostics.encoders': { queue: 'interactive' },
  'diagnostics.playback': { queue: 'interactive' },
  'diagnostics.storage': { queue: 'interactive' },
  'diagnostics.bundle': { queue: 'interactive' },
  'backup.create': { queue: 'maintenance', payload: z.object({ backupId: Id }) },
  /** A passphrase is sealed. */
  'backup.verify': {
    queue: 'maintenance',
    payload: z.object({ backupId: Id, depth: z.enum(['checksums', 'load']), passphrase: z.string().optional() }),
  },
  'backup.restore': { queue: 'maintenance', apart: true },
  'export.create': { queue: 'maintenance' },
  'import.preview': { queue: 'maintenance' },
  'import.run': { queue: 'maintenance' },
  'profile.purge': { queue: 'maintenance', payload: z.object({ profileId: Id }) },
  'user.purge': { queue: 'maintenance', payload: z.object({ accountId: Id, transferTo: Id.optional() }) },
  'stats.rollup': { queue: 'maintenance', payload: z.object({}) },
  'stats.trim': { queue: 'maintenance', payload: z.object({}) },
  'sessions.expire': { queue: 'maintenance', payload: z.object({}) },
  'keys.expire': { queue: 'maintenance', payload: z.object({}) },
  'plus.check': { queue: 'maintenance', payload: z.object({}) },
  'events.trim': { queue: 'maintenance', payload: z.object({}) },
  'logs.trim': { queue: 'maintenance', payload: z.object({}) },
  'webhook.trim': { queue: 'maintenance', payload: z.object({}) },
  'export.expire': { queue: 'maintenance' },
  'database.analyse': { queue: 'maintenance', payload: z.object({}) },
  'database.reindex': { queue: 'maintenance' },
  /** With `only`, what a person removed. */
  'objects.sweep': {
    queue: 'maintenance',
    payload: z.object({ only: z.literal('trickplay').optional() }),
  },
  'objects.audit': { queue: 'maintenance' },
} as const satisfies Record<string, JobSpec>;

type Table = typeof jobs;
/** Kinds that can be queued; each has a handler, as the compiler checks in workers/handlers.ts. */
export type JobName = { [N in keyof Table]: Table[N] extends { payload: z.ZodType } ? N : never }[keyof Table];
export type JobPayload<N extends JobName> = z.output<Extract<Table[N], { payload: z.ZodType }>['payload']>;

export interface EnqueueOptions {
  /** Equal work is one job: while one waits under this key, enqueueing again returns it. */
  key?: string;
  /** Instead of the kind's own queue, when a user waits for the job. */
  queue?: Queue;
  /** Earliest start. */
  runAt?: Date;
  /** 0-100, lower is sooner; the default is 50. */
  priority?: number;
  byAccountId?: string;
  cause?: 'person' | 'key' | 'schedule' | 'scan' | 'resource' | 'retry' | 'system';
  libraryId?: string;
  target?: { kind: string; id: string; title?: string };
  parentId?: string;
  maxAttempts?: number;
}
