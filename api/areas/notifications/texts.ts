import { z } from 'zod';
import { Plural, pluralText, textsOf } from '#platform/languages.ts';
import { kinds, type NotificationKind } from './kinds.ts';

/** Title, what it says of one, what it says of several. `{name}` and others are filled in, `{count}` too. */
const KindText = z.tuple([z.string(), z.string(), z.union([z.string(), Plural])]);

const steps = ['ownership-offer.withdrawn', 'ownership-offer.declined', 'ownership-changed.recovery'] as const;
type Step = (typeof steps)[number];

export const NotificationTexts = z.strictObject({
  kinds: z.record(z.enum(Object.keys(kinds) as [NotificationKind, ...NotificationKind[]]), KindText),
  /** Steps of a kind that read otherwise, by kind and `data.step`. */
  steps: z.record(z.enum(steps), KindText),
  /** Stands for a name that is not known or not to be told. */
  unnamed: z.string(),
  /** Several that were held back. */
  several: Plural,
  testTitle: z.string(),
  testBody: z.string(),
});
export type Language = z.output<typeof NotificationTexts> & { tag: string };

/** By a BCP 47 tag; English where there is no other. */
export const languageFor = textsOf('notifications', NotificationTexts);

/** What is said of so many that were held back. */
export const severalIn = ({ tag, several }: Language, count: number): string => pluralText(tag, several, count);

export interface Told {
  kind: NotificationKind;
  /** Fills the texts; `message` is what a person said with it, and follows them. */
  data: Readonly<Record<string, string | number>>;
  count: number;
}

/** Made when it is read: the profile's language then, not the one it had. `plain` names nothing. */
export function textOf(
  { kind, data, count }: Told,
  language: Language,
  plain = false,
): { title: string; body: string } {
  const step = `${kind}.${data.step}` as Step;
  const [title, one, several] = language.steps[step] ?? language.kinds[kind];
  const many = typeof several === 'string' ? several : pluralText(language.tag, several, count);
  const known = plain ? {} : data;
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === 'count' ? String(count) : Object.hasOwn(known, name) ? String(known[name]) : language.unnamed,
    );
  const said = [fill(count > 1 ? many : one), known.message ?? ''].join(' ').trim();
  return { title, body: said.slice(0, 500) };
}
