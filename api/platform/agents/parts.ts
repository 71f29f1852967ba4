// Pieces that the agents share.
import { z } from 'zod';
import type { NamedCredit } from '../item-values.ts';

/** A member that catalogues leave out, set to null, or leave empty. */
export const text = () =>
  z
    .string()
    .nullish()
    .transform((value) => value?.trim() || undefined);
export const number = () =>
  z
    .number()
    .nullish()
    .transform((value) => value ?? undefined);
export const list = <S extends z.ZodType>(of: S) =>
  z
    .array(of)
    .nullish()
    .transform((values) => values ?? []);

const MOST_IDS = 32;

/** The id of a provider, unless it has another form: ids come from files and people, and become parts of paths. */
export function idOf(ids: Readonly<Record<string, string>>, provider: string, form: RegExp): string | undefined {
  const id = ids[provider];
  return id !== undefined && id.length <= MOST_IDS + 8 && form.test(id) ? id : undefined;
}

export const NUMBER = /^\d{1,12}$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const IMDB = /^tt\d{5,10}$/;

/** The year of a text that begins with one. */
export function yearOf(value: string | number | undefined): number | undefined {
  const [digits] = /^\d{4}/.exec(String(value ?? '')) ?? [];
  const year = Number(digits);
  return digits && year >= 1000 && year <= 2200 ? year : undefined;
}

/** The members that are known. */
export function known<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as T;
}

/** Each name once, in order. */
export const names = (all: readonly (string | undefined)[], most = 50): string[] =>
  [...new Set(all.flatMap((name) => name?.trim().slice(0, 200) || []))].slice(0, most);

export const MOST_PEOPLE = 200;

/** Text without markup, for catalogues that describe in HTML. Linear in its length. */
export function plain(html: string | undefined): string | undefined {
  if (html === undefined) return undefined;
  let out = '';
  let inTag = false;
  for (const char of html.replace(/<br\s?\/?>/gi, '\n').replaceAll('</p>', '\n')) {
    if (char === '<') inTag = true;
    else if (char === '>' && inTag) inTag = false;
    else if (!inTag) out += char;
  }
  const entities: Record<string, string> = {
    '&amp;': '&',
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&nbsp;': ' ',
  };
  return out.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity).trim() || undefined;
}

/** The role of a crew member by the word of a catalogue. */
export function roleOf(job: string): string {
  const low = job.toLowerCase();
  const rules: readonly [string, string][] = [
    ['director of photography', 'cinematographer'],
    ['cinematograph', 'cinematographer'],
    ['director', 'director'],
    ['screenplay', 'writer'],
    ['writer', 'writer'],
    ['story', 'writer'],
    ['author', 'writer'],
    ['producer', 'producer'],
    ['composer', 'composer'],
    ['editor', 'editor'],
    ['music', 'composer'],
  ];
  return rules.find(([word]) => low.includes(word))?.[1] ?? 'other';
}

/** Each person once in a role. */
export function credits(all: readonly NamedCredit[]): NamedCredit[] {
  const found = new Map<string, NamedCredit>();
  for (const credit of all) {
    const key = `${credit.role}\0${credit.name}\0${credit.character ?? ''}`;
    if (credit.name && !found.has(key)) found.set(key, credit);
  }
  return [...found.values()].slice(0, MOST_PEOPLE);
}
