import { z } from 'zod';
import { Plural, textsOf } from '#platform/languages.ts';

/** Kinds with their own texts; `oidc-only` and `address-changed` are mails of the kinds password-reset and methods-changed. */
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

/** Texts of a mail; placeholders such as `{name}` are replaced by plain text. */
const MailText = z.strictObject({
  subject: z.string(),
  lines: z.array(z.string()),
  /** Label of the button that opens the link. */
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

/** Texts by BCP 47 tag, in English for a language without texts. */
export const mailLanguage = textsOf('mail', MailTexts);
