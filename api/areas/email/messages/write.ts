import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Keys, seal } from '#platform/keys.ts';
import { filled } from '#platform/languages.ts';
import { enqueue } from '#platform/queue.ts';
import type { Settings } from '#platform/settings.ts';
import { addressHash, domainOf, mailbox, oneLine } from '../address.ts';
import { mailLanguage, type OwnText } from '../content/texts.ts';
import { type EmailKind, priorityOf } from '../kinds.ts';

export interface Writing {
  keys: Keys;
  settings: Settings;
}

/** A mail with its own texts. */
export interface Mail {
  kind: EmailKind;
  text: OwnText;
  to: string;
  accountId?: string | undefined;
  /** Language of the account; absent is that of the server. */
  language?: string | null | undefined;
  /** Values of the placeholders; `until` is an ISO time and is formatted for the reader. */
  values: Readonly<Record<string, string>>;
  /** Path below `server.publicUrl`, with secrets in the fragment. */
  path?: string;
  /** When its link expires. */
  expiresAt?: Date | string;
  /** Requested by the receiver; it does not count for the hourly limit. */
  requested?: boolean;
}

/** Whether mail is enabled and has a server and a sender. */
export const mailReady = ({ settings }: Pick<Writing, 'settings'>): boolean =>
  settings.get('email.enabled') && settings.get('email.smtp.host') !== null && senderOf(settings) !== undefined;

export const senderOf = (settings: Settings) => mailbox(settings.get('email.from') ?? '');

/** 409 `mail-not-configured` or `no-public-url` for a mail with a link. */
export function requireMail({ settings }: Pick<Writing, 'settings'>): void {
  if (!mailReady({ settings })) throw conflict('mail-not-configured', 'Mail is not set up');
  if (settings.get('server.publicUrl') === null)
    throw conflict('no-public-url', 'Links in mails need the setting server.publicUrl');
}

/** Content of a sealed body. */
export interface Body {
  text: OwnText;
  values: Readonly<Record<string, string>>;
  path?: string;
}

/** Associated data that binds the sealed body to its row. */
export const placeOf = (id: string): string => `email_messages|body|${id}`;

/** Inserts the mail and enqueues its job in the transaction of the caller. */
export async function writeMail(db: Db, { keys, settings }: Writing, mail: Mail): Promise<string> {
  const { kind, to, text, values, path, accountId, expiresAt, requested = false } = mail;
  const id = newId();
  const tag = mail.language ?? settings.get('server.language');
  const language = mailLanguage(tag);
  const named = { server: settings.get('server.name'), ...values };
  const body: Body = { text, values: named, ...(path !== undefined && { path }) };
  await insertMail(db, settings, {
    ...{ id, kind, to, requested, direct: true, accountId },
    language: language.tag,
    subject: filled(language.own[text].subject, named),
    body: seal(keys, JSON.stringify(body), placeOf(id)),
    hasLink: path !== undefined,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
  });
  return id;
}

export interface NewMail {
  id: string;
  kind: EmailKind;
  to: string;
  accountId?: string | undefined;
  profileId?: string | undefined;
  language: string;
  subject: string;
  body?: string;
  notificationIds?: readonly string[];
  held?: boolean;
  direct: boolean;
  requested: boolean;
  hasLink: boolean;
  notBefore?: Date | undefined;
  expiresAt?: Date | undefined;
}

/** Column of `requested`. */
const REQUESTED = 'asked';

export async function insertMail(db: Db, settings: Settings, mail: NewMail): Promise<void> {
  const address = mailbox(mail.to)?.address;
  if (address === undefined) throw new Error('not an address');
  await db('email_messages').insert({
    id: mail.id,
    kind: mail.kind,
    account_id: mail.accountId,
    profile_id: mail.profileId,
    address,
    address_sha256: addressHash(address),
    language: mail.language,
    subject: oneLine(mail.subject),
    message_id: `<${mail.id}@${domainOf(senderOf(settings)?.address ?? 'foyer.invalid')}>`,
    body: mail.body,
    notification_ids: [...(mail.notificationIds ?? [])],
    held: mail.held ?? false,
    direct: mail.direct,
    [REQUESTED]: mail.requested,
    has_link: mail.hasLink,
    next_attempt_at: mail.notBefore,
    expires_at: mail.expiresAt,
  });
  await queueMail(db, mail, mail.notBefore);
}

/** Enqueues the job of a mail, once while it is pending. */
export async function queueMail(db: Db, { id, kind }: { id: string; kind: EmailKind }, at?: Date): Promise<void> {
  const options = { key: `email:${id}`, priority: priorityOf(kind), ...(at && { runAt: at }) };
  await enqueue(db, 'email.send', { payload: { messageId: id }, options });
}
