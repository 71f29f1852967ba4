import { type EventName, type EventSpec, events } from '#platform/events.ts';

const specs: Record<string, EventSpec> = events;

/** Names that may be subscribed to: `webhook.test` is sent by testWebhook only, `cast.*` never. */
export const subscribable = (Object.keys(events) as EventName[]).filter(
  (name) => specs[name]?.webhook && name !== 'webhook.test',
);

/** Families of an event: `library.scan.started` is in `library.*` and `library.scan.*`. */
export function familiesOf(name: string): string[] {
  const words = name.split('.');
  return words.slice(1).map((_word, at) => `${words.slice(0, at + 1).join('.')}.*`);
}

const known = new Set<string>(['*', ...subscribable, ...subscribable.flatMap(familiesOf)]);

export const isSubscription = (text: string): boolean => known.has(text);

/** Subscriptions that include this event. */
export const subscriptionsFor = (name: EventName): string[] =>
  subscribable.includes(name) ? ['*', name, ...familiesOf(name)] : [];

const DESCRIPTIONS: Record<string, string> = {
  'library.scan.started': 'A scan of a library began',
  'library.scan.progress': 'How far a scan is, at most twice a second',
  'library.scan.completed': 'A scan ended well',
  'library.scan.failed': 'A scan failed or was cancelled',
  'item.added': 'Something came into a library',
  'item.updated': 'Something in a library changed',
  'item.deleted': 'Something left a library',
  'playback.started': 'Somebody began to play',
  'playback.paused': 'Somebody paused',
  'playback.resumed': 'Somebody went on playing',
  'playback.progress': 'How far playing is, at most once in ten seconds',
  'playback.stopped': 'Somebody stopped playing',
  'download.ready': 'An offline copy is ready',
  'user.created': 'An account was made',
  'invite.accepted': 'Somebody accepted an invite',
  'library.access.granted': 'Somebody got access to a library',
  'playlist.shared': 'A playlist was shared',
  'notification.created': 'Somebody got a notification',
  'bug.reported': 'Somebody sent a bug report',
  'system.storage.unavailable': 'A storage cannot be reached',
  'system.storage.available': 'A storage can be reached again',
  'settings.changed': 'Settings were changed',
  'watch.updated': 'A watch room changed',
  'watch.chat': 'Somebody wrote in a watch room',
  'watch.ended': 'A watch room ended',
};

/** The events as listWebhooks describes them. */
export const subscribableEvents = subscribable.map((name) => ({
  name,
  family: familiesOf(name).at(-1) ?? '*',
  description: DESCRIPTIONS[name] ?? name,
}));
