import {
  languageFor,
  type NotificationRow,
  noPreferences,
  type ProfilePreferences,
  preferencesOf,
  severalIn,
  stillPreferred,
  textOf,
} from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, unseal } from '#platform/keys.ts';
import { filled } from '#platform/languages.ts';
import type { Settings } from '#platform/settings.ts';
import { withoutTail } from '#platform/text.ts';
import { isEndable } from '../kinds.ts';
import { digestOf, isVisibleTo, sinceOf } from '../messages/digest.store.ts';
import type { MessageRow } from '../messages/messages.store.ts';
import { type Body, placeOf } from '../messages/write.ts';
import { unsubscribeToken } from '../unsubscribe.ts';
import type { Content } from './render.ts';
import { type MailLanguage, mailLanguage } from './texts.ts';

export interface Sources {
  db: Db;
  keys: Keys;
  settings: Settings;
  now: Date;
  /** For the digest that is due next instead of the one that was written. */
  next?: boolean;
}

/** Columns of a mail that determine its content. */
export type MailSource = Pick<
  MessageRow,
  'id' | 'kind' | 'account_id' | 'profile_id' | 'address' | 'language' | 'subject' | 'body' | 'notification_ids'
>;

/** The sealing key of the body is missing. */
export class BodySealed extends Error {}

/** The content of the mail now; undefined when it has become empty. Throws BodySealed. */
export async function contentOf(sources: Sources, row: MailSource): Promise<Content | undefined> {
  if (row.body !== null) return ownContent(sources, row, row.body);
  return row.kind === 'digest' ? digestContent(sources, row) : noticeContent(sources, row);
}

/** Origin for links. */
const originOf = (settings: Settings): string => withoutTail(settings.get('server.publicUrl') ?? '', '/');

function frameOf({ settings, keys, now }: Sources, row: MailSource) {
  const language = mailLanguage(row.language);
  const server = settings.get('server.name');
  const claim = isEndable(row.kind) &&
    row.account_id !== null && { accountId: row.account_id, address: row.address, kind: row.kind };
  return {
    language: row.language,
    server,
    subject: row.subject,
    footer: filled(language.footer, { server }),
    sections: [],
    ...(claim && {
      unsubscribe: {
        label: language.unsubscribe,
        url: `${originOf(settings)}/unsubscribe#token=${unsubscribeToken(keys, claim, now)}`,
      },
    }),
  };
}

function ownContent(sources: Sources, row: MailSource, sealed: string): Content {
  const opened = unseal(sources.keys, sealed, placeOf(row.id));
  if (opened === undefined) throw new BodySealed('the key that it is sealed under is gone');
  return bodyContent(sources, row, JSON.parse(opened) as Body);
}

export function bodyContent(sources: Sources, row: MailSource, { text, values, path }: Body): Content {
  const { settings } = sources;
  const language = mailLanguage(row.language);
  const { button, lines } = language.own[text];
  const shown = { ...values, until: timeText(values.until, language, settings) };
  return {
    ...frameOf(sources, row),
    lines: lines.map((line) => filled(line, shown)).filter((line) => line !== ''),
    ...(path !== undefined && button && { button: { label: button, url: originOf(settings) + path } }),
  };
}

function timeText(iso: string | undefined, { tag }: MailLanguage, settings: Settings): string {
  if (iso === undefined) return '';
  const style = { dateStyle: 'long', timeStyle: 'short', timeZone: settings.get('server.timeZone') } as const;
  return new Intl.DateTimeFormat(tag, style).format(new Date(iso));
}

/** Content of the notifications that still exist, are still preferred by mail and whose target is visible to the profile. */
async function noticeContent(sources: Sources, row: MailSource): Promise<Content | undefined> {
  const { db, settings } = sources;
  const { profile_id: profileId } = row;
  if (profileId === null) return undefined;
  const preferences = (await preferencesOf(db, [profileId])).get(profileId) ?? noPreferences;
  const notices = await noticesToSend(sources, row, preferences);
  const [first, ...others] = notices;
  if (!first) return undefined;
  const texts = languageFor(row.language);
  const rendered = notices.map((one) => textOf(one, texts, preferences.hideTitles));
  const label = mailLanguage(row.language).open;
  const opened = (path: string) => ({ label, url: originOf(settings) + path });
  const frame = frameOf(sources, row);
  const items = rendered.map(({ body }) => body);
  if (others.length === 0) {
    const { title: subject } = textOf(first, texts, true);
    return { ...frame, subject, lines: items, button: opened(first.url ?? '/notifications') };
  }
  const subject = severalIn(texts, notices.length);
  return { ...frame, subject, lines: [], sections: [{ heading: subject, items }], button: opened('/notifications') };
}

async function noticesToSend(
  { db, now, next }: Sources,
  { notification_ids: ids }: MailSource,
  preferences: ProfilePreferences,
): Promise<NotificationRow[]> {
  const found = await db('notifications')
    .whereIn('id', ids)
    .whereRaw('coalesce(expires_at > ?, true)', [now])
    .orderBy(['created_at', 'id']);
  const notices: NotificationRow[] = [];
  for (const one of found) {
    const preferred = next || stillPreferred(preferences, one, ({ email }) => email === 'at-once');
    if (preferred && (await isVisibleTo(db, one))) notices.push(one);
  }
  return notices;
}

async function digestContent(sources: Sources, row: MailSource): Promise<Content | undefined> {
  const { db, settings, now, next = false } = sources;
  const { account_id: accountId, profile_id: profileId, language } = row;
  if (accountId === null || profileId === null) return undefined;
  const since = await sinceOf(db, accountId, { now, next });
  const sections = await digestOf(db, { profileId, language, since });
  if (!sections) return undefined;
  const button = { label: mailLanguage(language).open, url: `${originOf(settings)}/` };
  return { ...frameOf(sources, row), lines: [], sections, button };
}
