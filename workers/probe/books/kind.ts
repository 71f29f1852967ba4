import { open } from 'node:fs/promises';

const MAGIC: readonly (readonly [kind: string, at: number, bytes: string])[] = [
  ['zip', 0, 'PK\u0003\u0004'],
  ['pdf', 0, '%PDF-'],
  ['mobi', 60, 'BOOKMOBI'],
  ['rar', 0, 'Rar!\u001a\u0007'],
  ['7z', 0, '7z\u00bc\u00af\u0027\u001c'],
  ['tar', 257, 'ustar'],
  ['djvu', 0, 'AT&TFORM'],
];
const HEAD = 300;

/** The kind of a file by its first bytes; text is `text`. */
export async function kindOf(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  if (bytesRead === 0) throw new Error('the file is empty');
  const head = buffer.toString('latin1', 0, bytesRead);
  return MAGIC.find(([, at, bytes]) => head.startsWith(bytes, at))?.[0] ?? 'text';
}
