import type { BookTags } from '#platform/media.ts';
import { languageTag } from '../languages.ts';

const MOST_NAME = 300;
const MOST_TEXT = 20_000;
const MOST_NAMES = 50;

/** One line of at most 300 characters; undefined when it is empty. */
export function lineOf(text: string | undefined): string | undefined {
  const line = (text ?? '')
    .slice(0, MOST_NAME)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line === '' ? undefined : line;
}

/** Each name once, at most 50. */
export function namesOf(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.flatMap((name) => lineOf(name) ?? []))].slice(0, MOST_NAMES);
}

/** Text without the tags of HTML, at most 20,000 characters. */
export function plainText(html: string | undefined): string | undefined {
  let [text, inTag] = ['', false];
  for (const sign of (html ?? '').slice(0, MOST_TEXT)) {
    if (sign === '<') [text, inTag] = [`${text} `, true];
    else if (sign === '>') inTag = false;
    else if (!inTag) text += sign;
  }
  const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' };
  const plain = Object.entries(entities)
    .reduceRight((all, [entity, sign]) => all.replaceAll(entity, sign), text)
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim();
  return plain === '' ? undefined : plain;
}

const DATE = /^\d{4}(?:-\d{2}(?:-\d{2})?)?/;

export function dateOf(text: string | undefined): string | undefined {
  const date = DATE.exec((text ?? '').trim().slice(0, 10))?.[0];
  return date !== undefined && Number(date.slice(0, 4)) > 0 ? date : undefined;
}

/** An ISBN of 10 or 13 characters without hyphens. */
export function isbnOf(text: string | undefined): string | undefined {
  const bare = (text ?? '')
    .slice(0, 60)
    .toUpperCase()
    .replace(/^(?:URN:)?ISBN:?/, '')
    .replaceAll(/[\s-]/g, '');
  return /^(?:97[89]\d{10}|\d{9}[\dX])$/.test(bare) ? bare : undefined;
}

export function languageOf(text: string | undefined): string | undefined {
  return languageTag((text ?? '').trim().slice(0, 35));
}

/** Tags of a book that says nothing. */
export function emptyBook(): BookTags {
  return { authors: [], narrators: [], illustrators: [], translators: [], genres: [] };
}
