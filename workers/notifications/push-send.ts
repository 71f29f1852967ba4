import webpush from 'web-push';
import { languageOf, type NotificationRow, unreadOf } from '#areas/notifications/notifications.store.ts';
import {
  heldUntil,
  languageFor,
  noPreferences,
  preferencesOf,
  seers,
  severalIn,
  stillPreferred,
  textOf,
} from '#areas/notifications/public.ts';
import {
  endSubscription,
  findSubscription,
  openSubscription,
  type SubscriptionRow,
  unavailable,
} from '#areas/notifications/push.store.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { type Keys, ringOf, sha256 } from '#platform/keys.ts';
import { createOutbound, type Outbound } from '#platform/outbound.ts';
import { enqueue } from '#platform/queue.ts';
import type { Work } from '../work.ts';
import { type Answer, type Message, noteAnswer } from './push-answer.ts';

const TTL_SEC = 86_400;
const LOOK_AGAIN_MS = 60_000;
const ANSWER_MS = 10_000;
const MOST_BYTES = 3 * 1024;
const URGENCY = { info: 'low', success: 'normal', warning: 'normal', urgent: 'high' } as const;

export interface Setting {
  clock?: () => Date;
  /** Replaces the outbound client, for tests. */
  outbound?: Outbound;
}

/** Job push.send: sends one message to one subscription, after checking its notifications again. */
export function createPushSend({ clock = () => new Date(), outbound }: Setting = {}) {
  return async ({ subscriptionId, notificationId }: JobPayload<'push.send'>, work: Work): Promise<void> => {
    const { db, config, settings } = work;
    const keys = await ringOf(config.keysFile);
    const row = await findSubscription(db, subscriptionId);
    if (!row || !canTake(row) || unavailable({ settings, keys })) return;
    if (row.key_id !== keys.vapid?.keyId) return endSubscription(db, row.id, 'key-changed');
    const now = clock();
    const message = notificationId
      ? await messageFor(work, { row, notificationId, now })
      : await testMessage(work, row);
    if (!message) return;
    const way = outbound ?? createOutbound({ deny: config.clusterNetworks });
    const answer = await send(way, { keys, row, message, subject: String(settings.get('server.publicUrl')) });
    await noteAnswer(db, { row, answer, message, now: clock() });
  };
}

const canTake = ({ state }: SubscriptionRow): boolean => state !== 'expired';

interface Sending {
  keys: Keys;
  row: SubscriptionRow;
  message: Message;
  subject: string;
}

/** Encrypted for the device (RFC 8291), signed for the service (RFC 8292). Status 0 means no response. */
async function send(way: Outbound, { keys, row, message, subject }: Sending): Promise<Answer> {
  const opened = openSubscription(keys, row);
  if (!opened || !keys.vapid) return { status: 0, retryAfter: undefined, error: 'sealing-key-gone' };
  const { publicKey, privateKey } = keys.vapid;
  const request = webpush.generateRequestDetails(opened, JSON.stringify(fitting(message.payload)), {
    vapidDetails: { subject, publicKey, privateKey },
    TTL: message.ttl,
    urgency: message.urgency,
    topic: message.topic,
    contentEncoding: 'aes128gcm',
  });
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const body = Buffer.from(request.body as Buffer);
  const options = {
    method: 'POST',
    headers,
    body,
    maxRedirects: 0,
    timeoutMs: ANSWER_MS,
    maxBytes: 4096,
    cut: true,
  } as const;
  try {
    const answer = await way(opened.endpoint, options);
    return { status: answer.status, retryAfter: answer.headers['retry-after'] };
  } catch (error) {
    return { status: 0, retryAfter: undefined, error: (error as Error).message.slice(0, 200) };
  }
}

/** At most 3 KiB: the body is shortened. */
function fitting(payload: Record<string, unknown>): Record<string, unknown> {
  let body = String(payload.body);
  while (Buffer.byteLength(JSON.stringify({ ...payload, body })) > MOST_BYTES) body = `${body.slice(0, -20)}…`;
  return { ...payload, body };
}

async function testMessage({ db, settings }: Work, row: SubscriptionRow): Promise<Message> {
  const { testTitle, testBody } = languageFor(await languageOf(db, row.profile_id, settings.get('server.language')));
  const payload = { title: testTitle, body: testBody, url: '/', id: null, tag: 'test', badge: 0 };
  return { payload, ttl: 60, urgency: 'high', topic: topicOf('test'), notificationIds: [] };
}

const topicOf = (key: string): string => Buffer.from(sha256(key), 'hex').toString('base64url').slice(0, 32);

interface Wanted {
  row: SubscriptionRow;
  notificationId: string;
  now: Date;
}

/** Undefined when there is nothing to send, or not yet. */
async function messageFor(work: Work, { row, notificationId, now }: Wanted): Promise<Message | undefined> {
  const { db } = work;
  const waits = await db('push_messages')
    .where({ subscription_id: row.id, notification_id: notificationId })
    .first('held');
  if (!waits) return undefined; // sent, withdrawn, or part of a message that was sent
  const ids = waits.held ? await heldOf(work, row.id) : [notificationId];
  if (ids[0] !== notificationId) return leaveToFirst(work, { row, notificationId, now });
  const [until, ready] = await stillWanted(work, { row, ids, now });
  await dropUnwanted(work, { row, ids, kept: until ? ids : ready.map(({ id }) => id) });
  if (until) {
    await holdBack(work, { row, notificationId, until });
    return undefined;
  }
  return ready.length > 0 ? messageOf(work, { row, ready, now }) : undefined;
}

/** The job of the first held message sends all; this job checks again, in case the first was withdrawn. */
async function leaveToFirst({ db }: Work, { row, notificationId }: Wanted): Promise<undefined> {
  const runAt = new Date(Date.now() + LOOK_AGAIN_MS);
  await enqueue(db, 'push.send', { payload: { subscriptionId: row.id, notificationId }, options: { runAt } });
}

async function heldOf({ db }: Work, subscriptionId: string): Promise<string[]> {
  return db('push_messages as m')
    .join('notifications as n', 'n.id', 'm.notification_id')
    .where({ 'm.subscription_id': subscriptionId, 'm.held': true })
    .orderBy(['n.created_at', 'n.id'])
    .pluck('n.id') as Promise<string[]>;
}

/** When they are held back until, or those that the profile still wants and may see. */
async function stillWanted(
  { db }: Work,
  { row, ids, now }: { row: SubscriptionRow; ids: string[]; now: Date },
): Promise<[Date | undefined, NotificationRow[]]> {
  const preferences = (await preferencesOf(db, [row.profile_id])).get(row.profile_id) ?? noPreferences;
  const rows = await db('notifications').whereIn('id', ids).orderBy(['created_at', 'id']);
  const ready: NotificationRow[] = [];
  let until: Date | undefined;
  for (const one of rows) {
    if (isPast(one, now) || !isWanted(preferences, one)) continue;
    const [seer] = await seers(db, [row.profile_id], aboutOf(one));
    if (!seer) continue;
    until ??= heldUntil(preferences, { now, zone: seer.zone, urgent: one.level === 'urgent' });
    ready.push(one);
  }
  return [until, ready];
}

const aboutOf = ({ kind, item_id: item, library_id: library }: NotificationRow) => ({
  kind,
  itemId: item ?? undefined,
  libraryId: library ?? undefined,
});

/** Not read in the meantime, and still wanted on devices. */
function isWanted(preferences: typeof noPreferences, one: NotificationRow): boolean {
  if (one.in_app && one.read_at !== null) return false;
  return stillPreferred(preferences, one, ({ push }) => push);
}

const endOf = ({ created_at: made, expires_at: end }: NotificationRow): number =>
  Math.min(made.getTime() + TTL_SEC * 1000 * 7, end?.getTime() ?? Number.POSITIVE_INFINITY);
const isPast = (row: NotificationRow, now: Date): boolean => endOf(row) <= now.getTime();

async function dropUnwanted(
  { db }: Work,
  { row, ids, kept }: { row: SubscriptionRow; ids: string[]; kept: string[] },
): Promise<void> {
  const gone = ids.filter((id) => !kept.includes(id));
  if (gone.length > 0)
    await db('push_messages').where({ subscription_id: row.id }).whereIn('notification_id', gone).delete();
}

async function holdBack(
  { db }: Work,
  { row, notificationId, until }: { row: SubscriptionRow; notificationId: string; until: Date },
): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction('push_messages')
      .where({ subscription_id: row.id, notification_id: notificationId })
      .update({ held: true });
    await enqueue(transaction, 'push.send', {
      payload: { subscriptionId: row.id, notificationId },
      options: { runAt: until },
    });
  });
}

async function messageOf(
  { db, settings }: Work,
  { row, ready, now }: { row: SubscriptionRow; ready: NotificationRow[]; now: Date },
): Promise<Message | undefined> {
  const [first] = ready;
  const [seer] = first ? await seers(db, [row.profile_id], { kind: first.kind }) : [];
  if (!first || !seer) return undefined;
  const preferences = (await preferencesOf(db, [row.profile_id])).get(row.profile_id) ?? noPreferences;
  const language = languageFor(await languageOf(db, row.profile_id, settings.get('server.language')));
  const text = textOf(first, language, preferences.hideTitles);
  const several = ready.length > 1;
  const content = several
    ? { title: severalIn(language, ready.length), body: ready.map((one) => language.kinds[one.kind][0]).join(', ') }
    : text;
  const { unreadCount } = await unreadOf(db, seer.who);
  const tag = several ? 'several' : first.merge_key;
  const opens = several ? undefined : first.url;
  return {
    payload: { ...content, url: opens ?? '/notifications', id: first.id, tag, badge: unreadCount },
    ttl: ttlOf(first, now),
    urgency: ready.some((one) => one.level === 'urgent') ? 'high' : URGENCY[first.level],
    topic: topicOf(tag),
    notificationIds: ready.map(({ id }) => id),
  };
}

/** A reminder is useless after the start. */
function ttlOf({ kind, expires_at: end }: NotificationRow, now: Date): number {
  const live = kind === 'live-reminder' && end ? (end.getTime() - now.getTime()) / 1000 : TTL_SEC;
  return Math.max(0, Math.min(TTL_SEC, Math.floor(live)));
}
