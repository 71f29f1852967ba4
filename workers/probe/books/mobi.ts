import { open } from 'node:fs/promises';
import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { dateOf, emptyBook, isbnOf, languageOf, lineOf, namesOf, plainText } from './texts.ts';

/** The first record of a Palm database with its EXTH header lies within these bytes. */
const HEAD = 256 << 10;
const RECORDS_AT = 76;
const RECORD_ZERO_AT = 78;
const UTF8 = 65_001;
const MOST_RECORDS = 200;

const EXTH = {
  author: 100,
  publisher: 101,
  description: 103,
  isbn: 104,
  subject: 105,
  date: 106,
  title: 503,
  language: 524,
};

/** The header of a MOBI or AZW3 file. Throws if it has none. */
export async function readMobi(path: string): Promise<BookTags> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const head = buffer.subarray(0, bytesRead);
  if (head.toString('latin1', 60, 68) !== 'BOOKMOBI' || head.readUInt16BE(RECORDS_AT) === 0)
    throw new Error('no MOBI file');
  const record = head.subarray(head.readUInt32BE(RECORD_ZERO_AT));
  if (record.toString('latin1', 16, 20) !== 'MOBI') throw new Error('a MOBI file without header');
  const decoder = new TextDecoder(record.readUInt32BE(28) === UTF8 ? 'utf-8' : 'windows-1252');
  const fullName = record.subarray(record.readUInt32BE(84)).subarray(0, Math.min(1000, record.readUInt32BE(88)));
  const exth = exthOf(record, decoder);
  const one = (key: keyof typeof EXTH): string | undefined => exth.find(({ type }) => type === EXTH[key])?.text;
  const all = (key: keyof typeof EXTH): string[] =>
    exth.filter(({ type }) => type === EXTH[key]).map(({ text }) => text);
  return {
    ...emptyBook(),
    ...present({
      title: lineOf(one('title') ?? decoder.decode(fullName)),
      language: languageOf(one('language')),
      publisher: lineOf(one('publisher')),
      date: dateOf(one('date')),
      isbn: isbnOf(one('isbn')),
      description: plainText(one('description')),
    }),
    authors: namesOf(all('author')),
    genres: namesOf(all('subject')),
  };
}

function exthOf(record: Buffer, decoder: { decode(bytes: Uint8Array): string }): { type: number; text: string }[] {
  const found: { type: number; text: string }[] = [];
  const begin = 16 + record.readUInt32BE(20);
  if (record.toString('latin1', begin, begin + 4) !== 'EXTH') return found;
  const count = Math.min(MOST_RECORDS, record.readUInt32BE(begin + 8));
  for (let [i, at] = [0, begin + 12]; i < count && at + 8 <= record.length; i += 1) {
    const size = record.readUInt32BE(at + 4);
    if (size < 8) break;
    found.push({ type: record.readUInt32BE(at), text: decoder.decode(record.subarray(at + 8, at + size)) });
    at += size;
  }
  return found;
}
