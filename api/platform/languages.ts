// Texts of mails, notifications, chat rooms and Plus: a language is one file. What each part of it holds, the area that reads it says.
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const FOLDER = new URL('./languages/', import.meta.url);
const ENDING = '.json';

/** BCP 47 tags that have texts. */
export const languages: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length))
  .sort();

export const FALLBACK = 'en';
/** Tags whose texts are another's. */
const SAME: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' };

/** The language with texts for a tag: without its region where need be, else English. */
export function languageWithTexts(tag: string | null | undefined): string {
  const base = (tag ?? FALLBACK).toLowerCase().split('-')[0] ?? FALLBACK;
  const known = SAME[base] ?? base;
  return languages.includes(known) ? known : FALLBACK;
}

/** By what Intl.PluralRules calls a count; `other` is for all that is not named. */
export const Plural = z.strictObject({
  one: z.string().optional(),
  two: z.string().optional(),
  few: z.string().optional(),
  many: z.string().optional(),
  other: z.string(),
});
export type Plural = z.output<typeof Plural>;

/** The form for a count, with `{count}` as the language writes numbers. */
export function pluralText(tag: string, forms: Plural, count: number): string {
  const form = new Intl.PluralRules(tag).select(count);
  const text = form === 'zero' ? forms.other : (forms[form] ?? forms.other);
  return text.replaceAll('{count}', () => new Intl.NumberFormat(tag).format(count));
}

/** Values are put in once; what they hold is not looked at again. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));

/** A part of each language's file, read once. Throws where a file lacks a word or has one too many. */
export function textsOf<T>(
  part: string,
  schema: z.ZodType<T>,
): (tag: string | null | undefined) => T & { tag: string } {
  const read = new Map<string, T & { tag: string }>();
  return (asked) => {
    const tag = languageWithTexts(asked);
    const known = read.get(tag);
    if (known) return known;
    const file = JSON.parse(readFileSync(new URL(tag + ENDING, FOLDER), 'utf8')) as Record<string, unknown>;
    const texts = { ...schema.parse(file[part]), tag };
    read.set(tag, texts);
    return texts;
  };
}
