import type { EventName } from '#platform/events.ts';
import { filled } from '#platform/languages.ts';
import { type ChatLanguage, chatLanguage, counting, counts, type Reported } from './texts.ts';
import type { WebhookFormat } from './webhooks.schemas.ts';

/** Names for a sentence, without those that are hidden from the owner. */
export interface ChatNames {
  person?: string | undefined;
  item?: string | undefined;
  library?: string | undefined;
  storage?: string | undefined;
}

interface SentenceEvent {
  event: EventName;
  payload: Record<string, unknown>;
}

/** One sentence in this language, else in English; names are escaped for the markup of the room. */
export function sentenceFor(
  event: SentenceEvent,
  { names, language, escaped }: { names: ChatNames; language: string; escaped: (text: string) => string },
): string {
  const texts = chatLanguage(language);
  const safe = (values: object): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, escaped(textOf(value))]])),
    );
  const values = { total: '?', ...safe(event.payload), ...texts.unnamed, ...safe(names) };
  return oneLine(filled(sentenceOf(texts, event), values));
}

const sentenceOf = ({ sentences, counted }: ChatLanguage, { event, payload }: SentenceEvent): string =>
  counts(event) && payload[counting[event]] !== undefined ? counted[event] : sentences[event as Reported];

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
const invisible = '\u200b'; // prevents a mention where the service has no option for it

/** Request format of each chat service. */
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
