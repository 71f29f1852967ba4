// A work as a line of COPY.
import { folded } from '../agents/score.ts';
import { idsOf, keyOf, type Work } from './work.ts';

const MOST_WORDS = 2000;

/** Text of a field, escaped for COPY. */
const field = (text: string): string => (/[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, escaped) : text);
const escaped = (sign: string): string => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' })[sign] ?? sign;
const NULL = '\\N';

/** An array of texts; folded titles and ids hold no quotes. */
const array = (all: readonly string[]): string => (all.length === 0 ? '{}' : `{"${all.join('","')}"}`);

/** The titles under which a work is found, each once, the main one first. */
export function namesOf({ title, originalTitle, aliases }: Work): string[] {
  const all = [title, ...(originalTitle ? [originalTitle] : []), ...aliases.map((alias) => alias.title)];
  return [...new Set(all.map(folded))].filter((name) => name !== '');
}

/** One line of COPY with its end. */
export function copyLine(work: Work): string {
  const names = namesOf(work);
  const { kind, year, parent } = work;
  const values = [
    ...[keyOf(work), kind, array(idsOf(work)), array(names), names.join(' | ').slice(0, MOST_WORDS)],
    ...[year ?? NULL, parent ? keyOf(parent) : NULL, parent?.index ?? NULL, field(JSON.stringify(work))],
  ];
  return `${values.join('\t')}\n`;
}
