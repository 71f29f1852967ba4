import { z } from 'zod';
import { Plural, pluralText, textsOf } from '#platform/languages.ts';
import { kinds, type NotificationKind } from './kinds.ts';

/** Title, text for one and text for several. Placeholders are `{name}`, other values and `{count}`. */
const KindText = z.tuple([z.string(), z.string(), z.union([z.string(), Plural])]);

const steps = ['ownership-offer.withdrawn', 'ownership-offer.declined', 'ownership-changed.recovery'] as const;
type Step = (typeof steps)[number];

export const NotificationTexts = z.strictObject({
  kinds: z.record(z.enum(Object.keys(kinds) as [NotificationKind, ...NotificationKind[]]), KindText),
  /** Different texts for steps of a kind, by kind and `data.step`. */
  steps: z.record(z.enum(steps), KindText),
  /** Replaces a name that is unknown or hidden. */
  unnamed: z.string(),
  /** Text for several notifications that were held back. */
  several: Plural,
  testTitle: z.string(),
  testBody: z.string(),
});
export type Language = z.output<typeof NotificationTexts> & { tag: string };

/** Texts by BCP 47 tag, in English for a language without texts. */
export const languageFor = textsOf('notifications', NotificationTexts);

/** Text for this number of notifications that were held back. */
export const severalIn = ({ tag, several }: Language, count: number): string => pluralText(tag, several, count);

export interface Told {
  kind: NotificationKind;
  /** Values of the placeholders; `message` is text of a person and is appended. */
  data: Readonly<Record<string, string | number>>;
  count: number;
}

/** Title and text in the language of the reader at this moment. `plain` contains no names. */
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
  const text = [fill(count > 1 ? many : one), known.message ?? ''].join(' ').trim();
  return { title, body: text.slice(0, 500) };
}
