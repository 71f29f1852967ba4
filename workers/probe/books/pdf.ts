import { readFile, stat } from 'node:fs/promises';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { dateOf, emptyBook, lineOf, namesOf } from './texts.ts';

/** A larger file is known by its name alone: PDFium takes it as a whole. */
const MOST_BYTES = 192 << 20;
const TEXT_BYTES = 2048;

interface Pdfium {
  wasmExports?: unknown;
  HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(at: number): void;
  _FPDF_GetMetaText(document: number, tag: number, buffer: number, size: number): number;
}

let library: Promise<PDFiumLibrary> | undefined;

/** Title, author, date and number of pages of a PDF. Throws if PDFium cannot open it. */
export async function readPdf(path: string): Promise<BookTags> {
  if ((await stat(path)).size > MOST_BYTES) return emptyBook();
  library ??= PDFiumLibrary.init();
  const document = await (await library).loadDocument(await readFile(path));
  try {
    const { module, documentIdx } = document as unknown as { module: Pdfium; documentIdx: number };
    const meta = (tag: string): string | undefined => lineOf(metaText(module, documentIdx, tag));
    return {
      ...emptyBook(),
      ...present({ title: meta('Title'), date: dateOf(pdfDate(meta('CreationDate'))), pages: document.getPageCount() }),
      authors: namesOf((meta('Author') ?? '').split(/[;&]/)),
    };
  } finally {
    document.destroy();
  }
}

/** PDFium writes UTF-16 with a zero at its end. */
function metaText(module: Pdfium, document: number, tag: string): string {
  const name = module._malloc(tag.length + 1);
  const buffer = module._malloc(TEXT_BYTES);
  try {
    module.HEAPU8.set(Buffer.from(`${tag}\0`, 'latin1'), name);
    const size = Math.min(TEXT_BYTES, module._FPDF_GetMetaText(document, name, buffer, TEXT_BYTES));
    const bytes = module.HEAPU8.slice(buffer, buffer + Math.max(0, size - 2));
    return new TextDecoder('utf-16le').decode(bytes);
  } finally {
    module._free(name);
    module._free(buffer);
  }
}

/** `D:20240131…` as 2024-01-31. */
function pdfDate(text: string | undefined): string | undefined {
  const found = /^D:(\d{4})(\d{2})(\d{2})/.exec(text ?? '');
  return found ? found.slice(1).join('-') : undefined;
}
