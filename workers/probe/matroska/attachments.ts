import type { ProbedStream } from '#platform/media.ts';
import type { ByteSource } from '../byte-source.ts';
import { type Placed, placedAt, text } from './ebml.ts';
import { ID } from './ids.ts';
import type { Layout } from './layout.ts';

const PICTURES: Readonly<Record<string, string>> = {
  'image/jpeg': 'mjpeg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/tiff': 'tiff',
};
const FONTS: Readonly<Record<string, string>> = {
  'application/x-truetype-font': 'ttf',
  'application/x-font': 'ttf',
  'application/vnd.ms-opentype': 'otf',
  'application/font-sfnt': 'ttf',
  'application/x-font-ttf': 'ttf',
  'application/x-font-otf': 'otf',
  'font/collection': 'ttf',
  'font/otf': 'otf',
  'font/sfnt': 'ttf',
  'font/ttf': 'ttf',
};

/** An attached file and the position of its bytes. */
export interface Attached {
  name: string;
  mime: string;
  data: Placed;
}

/** The attached files in order; their bytes are not read. */
export async function attachedFiles(source: ByteSource, layout: Layout): Promise<Attached[]> {
  const placed = layout.sections.get(ID.attachments);
  if (!placed) return [];
  const files: Attached[] = [];
  for await (const file of heads(source, placed)) {
    if (file.id === ID.attachedFile) files.push(...(await attachedFile(source, file)));
  }
  return files;
}

/** The attached files as streams after the tracks. */
export async function attachmentsOf(source: ByteSource, layout: Layout, first: number): Promise<ProbedStream[]> {
  return (await attachedFiles(source, layout)).map(({ name, mime }, i) => attached(name, mime, first + i));
}

/** The children of an element in the file, by their heads. */
async function* heads(source: ByteSource, parent: Placed): AsyncGenerator<Placed> {
  for (let at = parent.at; at < parent.at + parent.size; ) {
    const part = await placedAt(source, at);
    if (!part || part.unknown) return;
    yield part;
    at = part.at + part.size;
  }
}

async function attachedFile(source: ByteSource, file: Placed): Promise<Attached[]> {
  const declared = { name: '', mime: '' };
  let data: Placed | undefined;
  for await (const part of heads(source, file)) {
    if (part.id === ID.fileName) declared.name = text(await source.read(part.at, Math.min(part.size, 4096)));
    if (part.id === ID.fileMime) declared.mime = text(await source.read(part.at, Math.min(part.size, 256)));
    if (part.id === ID.fileData) data = part;
  }
  return declared.name !== '' && declared.mime !== '' && data && data.size > 0 ? [{ ...declared, data }] : [];
}

function attached(fileName: string, mime: string, index: number): ProbedStream {
  const common = { index, default: false, forced: false, hearingImpaired: false, fileName, mime };
  const picture = PICTURES[mime];
  if (picture) return { ...common, kind: 'video', codec: picture, attachedPicture: true };
  return { ...common, kind: 'attachment', codec: attachmentCodec(mime) };
}

/** Our name for the format of an attached font, or `none`. */
export function attachmentCodec(mime: string): string {
  return FONTS[mime] ?? 'none';
}
