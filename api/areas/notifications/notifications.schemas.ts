import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { commaList, Id, ImageRef, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';
import { kindNames, kindOf, levels } from './kinds.ts';

export const NotificationKind = z.enum(kindNames).meta({ id: 'NotificationKind' });

export const Notification = z
  .object({
    id: Id,
    kind: NotificationKind,
    title: z.string().meta({ example: 'Nosferatu' }),
    body: z.string().meta({ example: 'Nosferatu is in Films' }),
    level: z.enum(levels),
    image: ImageRef.optional(),
    url: z
      .string()
      .optional()
      .describe('Relative URL of the page that it opens')
      .meta({ example: 'https://hooks.example/foyer' }),
    target: z.object({ kind: z.string().meta({ example: 'movie' }), id: z.string() }).optional(),
    actor: z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) }).optional(),
    count: z.int().min(1).describe('Number of merged notifications').meta({ example: 12 }),
    read: z.boolean(),
    readAt: Timestamp.optional(),
    createdAt: Timestamp,
    expiresAt: Timestamp.optional(),
  })
  .meta({ id: 'Notification' });
export type Notification = z.output<typeof Notification>;

const Counts = { unreadCount: z.int().min(0), urgentCount: z.int().min(0) };
export const counts = Counts;

const channels = { inApp: z.boolean(), push: z.boolean(), email: z.enum(['off', 'at-once', 'digest']) };
const Channels = z.strictObject(channels);
const Time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const Day = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

const parts = {
  quiet: z
    .strictObject({
      from: Time,
      to: Time,
      days: z.array(Day).max(7).default([]).describe('Days on which the quiet hours begin; none is every day'),
      urgentThrough: z.boolean().default(true),
    })
    .optional()
    .describe("In the profile's time zone"),
  hideTitles: z.boolean().default(false).describe('Push messages and mails contain no titles'),
  muted: z
    .strictObject({
      libraryIds: z.array(Id).max(200).default([]),
      itemIds: z.array(Id).max(500).default([]),
      userIds: z.array(Id).max(200).default([]),
    })
    .default({ libraryIds: [], itemIds: [], userIds: [] }),
  pausedUntil: Moment.optional(),
};

/** 400 for turning off a fixed channel. */
const Kinds = z.partialRecord(NotificationKind, Channels).superRefine((given, context) => {
  for (const [kind, channels] of Object.entries(given))
    if (kindOf(kind as (typeof kindNames)[number]).fixed && !channels.inApp)
      context.addIssue({
        code: 'custom',
        path: [kind, 'inApp'],
        message: 'this channel cannot be turned off',
        params: { code: 'fixed_channel' },
      });
});
const Defaults = z.partialRecord(NotificationKind, Channels);

export const Preferences = z.strictObject({
  kinds: Kinds,
  defaults: Defaults.optional().describe(
    'Defaults of the server for kinds that are not named; a value in a request is ignored',
  ),
  ...parts,
});

export const NotificationPreferences = z
  .object({ kinds: z.partialRecord(NotificationKind, z.object(channels)), defaults: Defaults, ...parts })
  .meta({ id: 'NotificationPreferences' });

const fixed = z.object({ inApp: z.boolean(), push: z.boolean(), email: z.boolean() });
export const PreferencesForm = z.object({
  kinds: z
    .partialRecord(
      NotificationKind,
      z.object({
        ...channels,
        title: z.string().meta({ example: 'Nosferatu' }),
        description: z.string().meta({ example: 'A download is ready to be taken along' }),
        fixed,
      }),
    )
    .describe('Kinds that the caller can get'),
  defaults: Defaults,
  ...parts,
  available: z.object({ push: z.boolean(), email: z.boolean() }),
});

export const notificationSorts: SortTable = { createdAt: { column: 'n.created_at', type: 'timestamptz' } };

export const NotificationsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(notificationSorts),
  unread: queryBool.optional(),
  kind: commaList(NotificationKind, kindNames.length).optional(),
  since: z.union([Id, Moment]).optional().describe('A notification id or a time: only newer ones'),
});
export type NotificationsQuery = z.output<typeof NotificationsQuery>;

export const MarkRead = z
  .strictObject({
    ids: z.array(Id).min(1).max(500).optional(),
    upTo: Id.optional()
      .describe('This notification and all before it')
      .meta({ example: '01977c2e-5a00-7946-86c2-168f8934713b' }),
    read: z.boolean().default(true),
  })
  .refine(({ ids, upTo }) => (ids === undefined) !== (upTo === undefined), {
    error: 'exactly one of ids and upTo',
    params: { code: 'exactly_one' },
  });

export const PushSubscription = z
  .object({
    id: Id,
    thisDevice: z.boolean(),
    deviceName: z.string().meta({ example: 'Living room' }),
    platform: z.string().optional().meta({ example: 'Android TV' }),
    service: z.string().describe('Host of the endpoint').meta({ example: 'push.example' }),
    keyId: z.string().meta({ example: 'b1946ac92492d234' }),
    state: z.enum(['active', 'failing', 'expired']),
    failures: z.int().min(0),
    createdAt: Timestamp,
    lastSentAt: Timestamp.optional(),
    lastError: z.string().optional(),
  })
  .meta({ id: 'PushSubscription' });
export type PushSubscription = z.output<typeof PushSubscription>;

export const PushSetup = z
  .object({
    available: z.boolean(),
    unavailableReason: z.enum(['not-https', 'no-keys', 'disabled']).optional(),
    publicKey: z.string().optional().describe('VAPID, base64url'),
    keyId: z.string().optional().meta({ example: 'b1946ac92492d234' }),
    subscriptions: z.array(PushSubscription),
  })
  .meta({ id: 'PushSetup' });

const Base64Url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+={0,2}$/)
  .max(200);

export const PushDraft = z.strictObject({
  endpoint: z
    .string()
    .max(1000)
    .refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:' && !new URL(text).username, {
      error: 'https',
      params: { code: 'invalid_url' },
    })
    .meta({ example: 'https://push.example/send/f1a2' }),
  keys: z.strictObject({
    p256dh: Base64Url.meta({
      example: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
    }),
    auth: Base64Url.meta({ example: 'tBHItJI5svbpez7KI4CCXg' }),
  }),
  keyId: z.string().max(64).meta({ example: 'b1946ac92492d234' }),
  deviceName: z.string().trim().min(1).max(60).optional().meta({ example: 'Living room' }),
  test: z.boolean().default(false),
});
export type PushDraft = z.output<typeof PushDraft>;
