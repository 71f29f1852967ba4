import type { EmailKind } from './kinds.ts';
import { german } from './texts-de.ts';
import { english } from './texts-en.ts';

/** What a mail of ours says; `{name}` and others are filled in, as text. */
export interface MailText {
  subject: string;
  lines: readonly string[];
  /** What opens its link. */
  button?: string;
}

/** Kinds whose texts are ours; `oidc-only` and `address-changed` are mails of the kinds password-reset and methods-changed. */
export type OwnText =
  | Exclude<EmailKind, 'alert' | 'notification' | 'digest' | 'sign-in-new-device' | 'methods-changed'>
  | 'oidc-only'
  | 'address-changed';

export interface MailLanguage {
  tag: string;
  own: Record<OwnText, MailText>;
  open: string;
  footer: string;
  unsubscribe: string;
  digest: {
    subject: string;
    added: string;
    goOn: string;
    kept: string;
    titles: (count: number) => string;
    more: (count: number) => string;
  };
}

const languages: Record<string, MailLanguage> = { en: english, de: german };

export const mailLanguage = (tag: string | null | undefined): MailLanguage =>
  languages[(tag ?? 'en').toLowerCase().split('-')[0] ?? 'en'] ?? english;

/** Values are put in once; what they hold is not looked at again. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));
