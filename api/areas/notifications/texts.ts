import type { NotificationKind } from './kinds.ts';
import { german } from './texts-de.ts';
import { english } from './texts-en.ts';

/** Title, what it says of one, what it says of several. `{name}` and others are filled in, `{count}` too. */
export type KindText = readonly [title: string, one: string, many: string];

type Step = 'ownership-offer.withdrawn' | 'ownership-offer.declined' | 'ownership-changed.recovery';

export interface Language {
  kinds: Record<NotificationKind, KindText>;
  /** Steps of a kind that read otherwise, by kind and `data.step`. */
  steps: Record<Step, KindText>;
  /** Stands for a name that is not known or not to be told. */
  unnamed: string;
  /** Several that were held back. */
  several: (count: number) => string;
  testTitle: string;
  testBody: string;
}

const languages: Record<string, Language> = { en: english, de: german };

export const languageFor = (tag: string | null | undefined): Language =>
  languages[(tag ?? 'en').toLowerCase().split('-')[0] ?? 'en'] ?? english;

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
  const [title, one, many] = language.steps[step] ?? language.kinds[kind];
  const known = plain ? {} : data;
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === 'count' ? String(count) : Object.hasOwn(known, name) ? String(known[name]) : language.unnamed,
    );
  const said = [fill(count > 1 ? many : one), known.message ?? ''].join(' ').trim();
  return { title, body: said.slice(0, 500) };
}
