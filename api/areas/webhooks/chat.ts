import type { EventName } from '#platform/events.ts';
import type { WebhookFormat } from './webhooks.schemas.ts';

/** Names that a sentence may need; what the owner does not see stays unnamed. */
export interface ChatNames {
  person?: string | undefined;
  item?: string | undefined;
  library?: string | undefined;
  storage?: string | undefined;
}

type Sentence = (
  names: Required<{ [K in keyof ChatNames]: string }>,
  payload: Record<string, string | undefined>,
) => string;
type Sentences = Record<Exclude<EventName, `cast.${string}`>, Sentence>;
interface Language {
  unnamed: Required<{ [K in keyof ChatNames]: string }>;
  sentences: Sentences;
}

const english: Language = {
  unnamed: { person: 'Somebody', item: 'something', library: 'a library', storage: 'a storage' },
  sentences: {
    'library.scan.started': ({ library }) => `A scan of ${library} began.`,
    'library.scan.progress': ({ library }, { done, total }) =>
      done === undefined ? `${library} is being scanned.` : `${library} is being scanned: ${done} of ${total ?? '?'}.`,
    'library.scan.completed': ({ library }, { added }) =>
      added === undefined ? `The scan of ${library} is done.` : `The scan of ${library} is done: ${added} new.`,
    'library.scan.failed': ({ library }) => `The scan of ${library} failed.`,
    'item.added': ({ item, library }) => `New in ${library}: ${item}.`,
    'item.updated': ({ item, library }) => `Changed in ${library}: ${item}.`,
    'item.deleted': ({ item, library }) => `Gone from ${library}: ${item}.`,
    'playback.started': ({ person, item }) => `${person} began to play ${item}.`,
    'playback.paused': ({ person, item }) => `${person} paused ${item}.`,
    'playback.resumed': ({ person, item }) => `${person} goes on playing ${item}.`,
    'playback.progress': ({ person, item }) => `${person} is playing ${item}.`,
    'playback.stopped': ({ person, item }) => `${person} stopped playing ${item}.`,
    'download.ready': ({ person, item }) => `The copy of ${item} for ${person} is ready.`,
    'user.created': ({ person }) => `${person} has an account now.`,
    'invite.accepted': () => 'An invite was accepted.',
    'library.access.granted': ({ person, library }) => `${person} can see ${library} now.`,
    'playlist.shared': ({ person }) => `A playlist was shared with ${person}.`,
    'notification.created': ({ person }) => `${person} has a new notification.`,
    'bug.reported': ({ person }) => `${person} reported a bug.`,
    'system.storage.unavailable': ({ storage }) => `${storage} cannot be reached.`,
    'system.storage.available': ({ storage }) => `${storage} can be reached again.`,
    'settings.changed': () => 'Settings were changed.',
    'watch.updated': () => 'A watch room changed.',
    'watch.chat': ({ person }, { text }) => `${person} in a watch room: ${text ?? ''}`,
    'watch.ended': () => 'A watch room ended.',
    'webhook.test': () => 'This is a test: the webhook works.',
  },
};

const german: Language = {
  unnamed: { person: 'Jemand', item: 'etwas', library: 'einer Bibliothek', storage: 'Ein Speicher' },
  sentences: {
    'library.scan.started': ({ library }) => `Das Einlesen von ${library} hat begonnen.`,
    'library.scan.progress': ({ library }, { done, total }) =>
      done === undefined ? `${library} wird eingelesen.` : `${library} wird eingelesen: ${done} von ${total ?? '?'}.`,
    'library.scan.completed': ({ library }, { added }) =>
      added === undefined ? `${library} ist eingelesen.` : `${library} ist eingelesen: ${added} neu.`,
    'library.scan.failed': ({ library }) => `Das Einlesen von ${library} ist fehlgeschlagen.`,
    'item.added': ({ item, library }) => `Neu in ${library}: ${item}.`,
    'item.updated': ({ item, library }) => `Geändert in ${library}: ${item}.`,
    'item.deleted': ({ item, library }) => `Nicht mehr in ${library}: ${item}.`,
    'playback.started': ({ person, item }) => `${person} spielt jetzt ${item}.`,
    'playback.paused': ({ person, item }) => `${person} macht Pause bei ${item}.`,
    'playback.resumed': ({ person, item }) => `${person} spielt ${item} weiter.`,
    'playback.progress': ({ person, item }) => `${person} spielt ${item}.`,
    'playback.stopped': ({ person, item }) => `${person} hat ${item} beendet.`,
    'download.ready': ({ person, item }) => `Die Kopie von ${item} für ${person} ist fertig.`,
    'user.created': ({ person }) => `${person} hat jetzt ein Konto.`,
    'invite.accepted': () => 'Eine Einladung wurde angenommen.',
    'library.access.granted': ({ person, library }) => `${person} sieht jetzt ${library}.`,
    'playlist.shared': ({ person }) => `Eine Wiedergabeliste wurde mit ${person} geteilt.`,
    'notification.created': ({ person }) => `${person} hat eine neue Mitteilung.`,
    'bug.reported': ({ person }) => `${person} hat einen Fehler gemeldet.`,
    'system.storage.unavailable': ({ storage }) => `${storage} ist nicht erreichbar.`,
    'system.storage.available': ({ storage }) => `${storage} ist wieder erreichbar.`,
    'settings.changed': () => 'Einstellungen wurden geändert.',
    'watch.updated': () => 'Ein gemeinsamer Raum hat sich geändert.',
    'watch.chat': ({ person }, { text }) => `${person} in einem gemeinsamen Raum: ${text ?? ''}`,
    'watch.ended': () => 'Ein gemeinsamer Raum ist zu Ende.',
    'webhook.test': () => 'Dies ist ein Test: der Webhook funktioniert.',
  },
};

const languages: Record<string, Language> = { en: english, de: german };

/** One sentence in the language, else in English; what people named is escaped for the room's markup. */
export function sentenceFor(
  event: { event: EventName; payload: Record<string, unknown> },
  { names, language, escaped }: { names: ChatNames; language: string; escaped: (text: string) => string },
): string {
  const { unnamed, sentences } = languages[language.split('-')[0] ?? 'en'] ?? english;
  const sentence = sentences[event.event as keyof Sentences];
  const safe = (name: keyof ChatNames): string => (names[name] === undefined ? unnamed[name] : escaped(names[name]));
  const filled = { person: safe('person'), item: safe('item'), library: safe('library'), storage: safe('storage') };
  const payload = Object.fromEntries(
    Object.entries(event.payload).map(([name, value]) => [name, escaped(textOf(value))]),
  );
  return oneLine(sentence(filled, payload));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 1000);

const BACKSLASHED = /[\\`*_{}[\]()#+\-.!|~<>]/g;
const ANGLES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

interface Chat {
  type: string;
  escaped: (text: string) => string;
  body: (sentence: string) => string;
}

const plain = (text: string): string => text;
const invisible = '\u200b'; // breaks a mention, also where the room's own switch is not known

/** How each chat service takes a sentence. */
export const chats: Record<Exclude<WebhookFormat, 'json'>, Chat> = {
  discord: {
    type: 'application/json',
    escaped: (text) => text.replace(BACKSLASHED, '\\$&').replaceAll('@', `@${invisible}`),
    body: (content) => JSON.stringify({ content, allowed_mentions: { parse: [] } }),
  },
  slack: {
    type: 'application/json',
    escaped: (text) => text.replace(/[&<>]/g, (sign) => ANGLES[sign] ?? sign).replace(/[*_~`]/g, `${invisible}$&`),
    body: (text) => JSON.stringify({ text, link_names: false, unfurl_links: false, unfurl_media: false }),
  },
  matrix: {
    type: 'application/json',
    escaped: (text) => text.replaceAll('@', `@${invisible}`),
    body: (body) => JSON.stringify({ msgtype: 'm.text', body, 'm.mentions': {} }),
  },
  ntfy: { type: 'text/plain; charset=utf-8', escaped: plain, body: plain },
};
