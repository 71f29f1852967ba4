import { open } from 'node:fs/promises';
import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { elementsOf, type XmlElement } from '../archive/xml.ts';
import { dateOf, emptyBook, isbnOf, languageOf, lineOf, namesOf } from './texts.ts';

const HEAD = 256 << 10;

/** The description of a FictionBook, which stands before its text. */
export async function readFb2(path: string): Promise<BookTags> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const head = buffer.toString('utf8', 0, bytesRead);
  const end = head.indexOf('</description>');
  const elements = elementsOf(end < 0 ? head : `${head.slice(0, end)}</description></FictionBook>`);
  const text = (name: string): string | undefined => elements.find((one) => one.name === name)?.text;
  const sequence = elements.find(({ name }) => name === 'sequence')?.attributes;
  const series = lineOf(sequence?.['name']);
  return {
    ...emptyBook(),
    ...present({
      title: lineOf(text('book-title')),
      language: languageOf(text('lang')),
      publisher: lineOf(elements.find(({ name, parent }) => name === 'publisher' && parent === 'publish-info')?.text),
      date: dateOf(text('year') ?? text('date')),
      isbn: isbnOf(text('isbn')),
      series:
        series === undefined ? undefined : { title: series, ...present({ number: lineOf(sequence?.['number']) }) },
    }),
    authors: authorsOf(elements),
    genres: namesOf(
      elements.filter(({ name }) => name === 'genre').map(({ text: genre }) => genre.replaceAll('_', ' ')),
    ),
  };
}

/** First, middle and last name end before the `author` around them does. */
function authorsOf(elements: readonly XmlElement[]): string[] {
  const authors: string[] = [];
  let parts: string[] = [];
  for (const { name, parent, text } of elements) {
    if (parent === 'author' && /^(?:first|middle|last)-name$/.test(name)) parts.push(text);
    else if (name === 'author') {
      if (parent === 'title-info') authors.push(parts.join(' '));
      parts = [];
    }
  }
  return namesOf(authors);
}
