import { z } from 'zod';
import { Plural, textsOf } from '#platform/languages.ts';

/** Kinds whose texts are ours; `oidc-only` and `address-changed` are mails of the kinds password-reset and methods-changed. */
const ownTexts = [
  'invitation',
  'password-reset',
  'password-set',
  'address-confirm',
  'test',
  'oidc-only',
  'address-changed',
] as const;
export type OwnText = (typeof ownTexts)[number];

/** What a mail of ours says; `{name}` and others are filled in, as text. */
const MailText = z.strictObject({
  subject: z.string(),
  lines: z.array(z.string()),
  /** What opens its link. */
  button: z.string().optional(),
});

export const MailTexts = z.strictObject({
  own: z.record(z.enum(ownTexts), MailText),
  open: z.string(),
  footer: z.string(),
  unsubscribe: z.string(),
  digest: z.strictObject({
    subject: z.string(),
    added: z.string(),
    goOn: z.string(),
    kept: z.string(),
    titles: Plural,
    more: Plural,
  }),
});
export type MailLanguage = z.output<typeof MailTexts> & { tag: string };

/** By a BCP 47 tag; English where there is no other. */
export const mailLanguage = textsOf('mail', MailTexts);
