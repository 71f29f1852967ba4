// Texts of mails, notifications, chat rooms and Plus: one file for each language. The area that reads a part defines
// it.
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
/** Tags that use the texts of another tag. */
const SAME: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' };

/** The language with texts for a tag: without its region if needed, otherwise English. */
export function languageWithTexts(tag: string | null | undefined): string {
  const base = (tag ?? FALLBACK).toLowerCase().split('-')[0] ?? FALLBACK;
  const known = SAME[base] ?? base;
  return languages.includes(known) ? known : FALLBACK;
}

/** By the categories of Intl.PluralRules; `other` covers the rest. */
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

/** Each placeholder is replaced once; placeholders inside values are not. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));

/** A part of each language's file, read once. Throws if a file lacks a text or has an unknown one. */
export function textsOf<T>(
  part: string,
  schema: z.ZodType<T>,
): (tag: string | null | undefined) => T & { tag: string } {
  const read = new Map<string, T & { tag: string }>();
  return (requested) => {
    const tag = languageWithTexts(requested);
    const known = read.get(tag);
    if (known) return known;
    const file = JSON.parse(readFileSync(new URL(tag + ENDING, FOLDER), 'utf8')) as Record<string, unknown>;
    const texts = { ...schema.parse(file[part]), tag };
    read.set(tag, texts);
    return texts;
  };
}
