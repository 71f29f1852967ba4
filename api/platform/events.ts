import { z } from 'zod';

const Id = z.uuid();
const ids = { itemId: Id, libraryId: Id };
/** The wider form is sent with `library:manage` only. */
const wide = { type: z.string().optional(), title: z.string().optional(), changed: z.array(z.string()).optional() };
const scan = { libraryId: Id, scanId: Id };
const playback = {
  sessionId: Id,
  userId: Id,
  itemId: Id,
  mediaFileId: Id,
  positionMs: z.int(),
};

/** The recipients of an event; the event relay evaluates these values together with the facts. */
export type Audience =
  | 'library'
  | 'item'
  | 'person'
  | 'profile'
  | 'accounts'
  | 'room'
  | 'device'
  | 'managers'
  | 'settings'
  | 'support';

export interface EventSpec {
  payload: z.ZodType;
  audience: Audience;
  webhook: boolean;
  /** Only the newest one of its scan or session is kept for replay. */
  volatile?: true;
}

/** Every event of the API with its payload. */
export const events = {
  'library.scan.started': { payload: z.object(scan), audience: 'library', webhook: true },
  'library.scan.progress': {
    payload: z.object({ ...scan, found: z.int().optional(), done: z.int().optional(), total: z.int().optional() }),
    audience: 'library',
    webhook: true,
    volatile: true,
  },
  'library.scan.completed': {
    payload: z.object({
      ...scan,
      added: z.int().optional(),
      updated: z.int().optional(),
      missing: z.int().optional(),
      durationMs: z.int(),
    }),
    audience: 'library',
    webhook: true,
  },
  'library.scan.failed': { payload: z.object({ ...scan, code: z.string() }), audience: 'library', webhook: true },
  'item.added': { payload: z.object({ ...ids, ...wide }), audience: 'item', webhook: true },
  'item.updated': { payload: z.object({ ...ids, ...wide }), audience: 'item', webhook: true },
  'item.deleted': { payload: z.object({ ...ids, ...wide }), audience: 'item', webhook: true },
  'playback.started': {
    payload: z.object({
      ...playback,
      method: z.enum(['direct_play', 'direct_stream', 'transcode']),
      isRemote: z.boolean(),
      reasons: z.array(z.string()),
    }),
    audience: 'person',
    webhook: true,
  },
  'playback.paused': { payload: z.object(playback), audience: 'person', webhook: true },
  'playback.resumed': { payload: z.object(playback), audience: 'person', webhook: true },
  'playback.progress': { payload: z.object(playback), audience: 'person', webhook: true, volatile: true },
  'playback.stopped': { payload: z.object(playback), audience: 'person', webhook: true },
  'state.changed': {
    payload: z.object({
      profileId: Id,
      what: z.array(z.enum(['progress', 'watched', 'rating', 'favorite', 'reading', 'preferences'])).min(1),
      itemIds: z.array(Id).max(100),
      truncated: z.boolean(),
      deviceId: Id.optional(),
    }),
    audience: 'profile',
    webhook: false,
  },
  'download.ready': {
    payload: z.object({ downloadId: Id, userId: Id, itemId: Id }),
    audience: 'person',
    webhook: true,
  },
  'user.created': { payload: z.object({ userId: Id, role: z.string() }), audience: 'accounts', webhook: true },
  'invite.accepted': { payload: z.object({ inviteId: Id }), audience: 'accounts', webhook: true },
  'library.access.granted': {
    payload: z.object({ libraryId: Id, userId: Id, byUserId: Id }),
    audience: 'person',
    webhook: true,
  },
  'playlist.shared': {
    payload: z.object({ playlistId: Id, userId: Id, byUserId: Id }),
    audience: 'person',
    webhook: true,
  },
  'notification.created': {
    payload: z.object({ notificationId: Id, userId: Id, kind: z.string() }),
    audience: 'person',
    webhook: true,
  },
  'bug.reported': { payload: z.object({ reportId: Id, byUserId: Id }), audience: 'support', webhook: true },
  'system.storage.unavailable': { payload: z.object({ storageId: Id }), audience: 'managers', webhook: true },
  'system.storage.available': { payload: z.object({ storageId: Id }), audience: 'managers', webhook: true },
  'settings.changed': { payload: z.object({ keys: z.array(z.string()) }), audience: 'settings', webhook: true },
  'watch.updated': { payload: z.object({ roomId: Id, revision: z.int() }), audience: 'room', webhook: true },
  'watch.chat': {
    payload: z.object({ roomId: Id, revision: z.int(), userId: Id, text: z.string() }),
    audience: 'room',
    webhook: true,
  },
  'watch.ended': { payload: z.object({ roomId: Id, revision: z.int() }), audience: 'room', webhook: true },
  'cast.command': {
    payload: z.object({
      deviceId: Id,
      command: z.string(),
      id: Id,
      args: z.record(z.string(), z.unknown()),
      from: z.string(),
    }),
    audience: 'device',
    webhook: false,
  },
  'cast.device.updated': { payload: z.object({ deviceId: Id, state: z.string() }), audience: 'device', webhook: false },
  'webhook.test': { payload: z.object({ webhookId: Id, byUserId: Id }), audience: 'settings', webhook: true },
} as const satisfies Record<string, EventSpec>;

export type EventName = keyof typeof events;
/** Of these events only the newest one of a scan or session is replayed. */
export const volatileEvents = (Object.keys(events) as EventName[]).filter((name) => 'volatile' in events[name]);

export type Payload<N extends EventName> = z.output<(typeof events)[N]['payload']>;

/** Stored with an event to select its recipients later; never sent. */
export interface EventFacts {
  libraryId?: string;
  itemId?: string;
  /** Absent or null means not rated. */
  ageYears?: number | null;
  unrated?: boolean;
  /** Numbers of the item's labels, including inherited ones. */
  labels?: number[];
  /** The facts that decided who could see the item before this change. */
  before?: { labels?: number[]; ageYears?: number | null };
  userIds?: string[];
  profileId?: string;
  roomId?: string;
  deviceId?: string;
}
