import { extname } from 'node:path';
import type { BookTags } from '#platform/media.ts';
import { readComic } from '../comics/read.ts';
import { readEpub } from './epub.ts';
import { readFb2 } from './fb2.ts';
import { kindOf } from './kind.ts';
import { readMobi } from './mobi.ts';
import { readPdf } from './pdf.ts';
import { emptyBook } from './texts.ts';

export interface ReadBook {
  /** Such as epub, pdf, cbz. */
  container: string;
  tags: BookTags;
}

/** A book by its content. Throws for a file that is not what its name says. */
export async function readBook(path: string): Promise<ReadBook> {
  const extension = extname(path).slice(1).toLowerCase();
  const kind = await kindOf(path);
  if (kind === 'zip') return { container: 'epub', tags: await readEpub(path) };
  if (kind === 'pdf') return { container: 'pdf', tags: await readPdf(path) };
  if (kind === 'mobi') return { container: extension === 'azw3' ? 'azw3' : 'mobi', tags: await readMobi(path) };
  if (kind === 'text' && extension === 'fb2') return { container: 'fb2', tags: await readFb2(path) };
  if (kind === 'djvu' || (kind === 'text' && extension === 'txt')) return { container: extension, tags: emptyBook() };
  throw new Error('no book');
}

const COMICS: Readonly<Record<string, string>> = { zip: 'cbz', rar: 'cbr', '7z': 'cb7', tar: 'cbt', pdf: 'pdf' };

/** A comic by its content, whatever its extension says. */
export async function readComicFile(path: string): Promise<ReadBook> {
  const kind = await kindOf(path);
  const container = COMICS[kind];
  if (container === undefined) throw new Error('no comic');
  return { container, tags: await readComic(path, kind) };
}
