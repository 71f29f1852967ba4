// The text of a guide from its file: gzip, xz or plain, in the encoding that it declares.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { GuideRefused } from './refused.ts';
import { XmltvReader } from './xmltv.ts';

const MOST_UNPACKED = 2 * 2 ** 30;
const HEAD = 1024;

const startsWith = (head: Buffer, ...bytes: number[]): boolean => bytes.every((byte, at) => head[at] === byte);

/** The bytes without their compression. */
async function unpacked(packed: Readable, head: Buffer): Promise<AsyncIterable<Uint8Array>> {
  if (startsWith(head, 0x1f, 0x8b)) {
    const gunzip = createGunzip();
    packed.on('error', (error) => gunzip.destroy(error));
    return packed.pipe(gunzip);
  }
  if (startsWith(head, 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)) {
    const { default: xz } = await import('xz-decompress'); // most guides need no WebAssembly
    return new xz.XzReadableStream(Readable.toWeb(packed) as ReadableStream<Uint8Array>);
  }
  return packed;
}

interface Decoder {
  write(bytes: Uint8Array): string;
  end(bytes: Uint8Array): string;
}

/** UTF-8 by the decoder whose strings of ASCII have one byte a character. */
function decoderFor(encoding: string): Decoder {
  const decoder = new TextDecoder(encoding);
  if (decoder.encoding === 'utf-8') return new StringDecoder();
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: (bytes) => decoder.decode(bytes) };
}

/** By its byte order mark or XML declaration. */
function decoderOf(head: Buffer): Decoder {
  if (startsWith(head, 0xff, 0xfe)) return decoderFor('utf-16le');
  if (startsWith(head, 0xfe, 0xff)) return decoderFor('utf-16be');
  const [, name = 'utf-8'] =
    /^\s*<\?xml[^>]{0,200}?encoding\s{0,5}=\s{0,5}["']([A-Za-z0-9._-]{1,40})["']/.exec(head.toString('latin1')) ?? [];
  try {
    return decoderFor(name);
  } catch {
    throw new GuideRefused('unknown_encoding', `the guide is in the unknown encoding ${name}`);
  }
}

/** The text of the bytes of a guide, in parts. Throws `GuideRefused`. */
export async function* textOf(packed: Readable, start: Buffer): AsyncGenerator<string> {
  let decoder: Decoder | undefined;
  let held: Uint8Array = new Uint8Array();
  let bytes = 0;
  try {
    for await (const chunk of await unpacked(packed, start)) {
      bytes += chunk.length;
      if (bytes > MOST_UNPACKED) throw new GuideRefused('too_large', 'the guide is larger than 2 GiB');
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (!decoder && held.length < HEAD) continue;
      decoder ??= decoderOf(Buffer.from(held.subarray(0, HEAD)));
      yield decoder.write(held);
      held = new Uint8Array();
    }
  } catch (error) {
    if (error instanceof GuideRefused) throw error;
    throw new GuideRefused('unreadable', 'the guide cannot be unpacked');
  } finally {
    packed.destroy();
  }
  decoder ??= decoderOf(Buffer.from(held.subarray(0, HEAD)));
  yield decoder.end(held);
}

/** The text of a guide in a file. */
export async function* textOfFile(path: string): AsyncGenerator<string> {
  const file = await open(path);
  const head = Buffer.alloc(HEAD);
  try {
    const { bytesRead } = await file.read(head, 0, HEAD, 0);
    if (bytesRead === 0) throw new GuideRefused('not_xmltv', 'the guide is empty');
  } finally {
    await file.close();
  }
  yield* textOf(createReadStream(path, { highWaterMark: 1 << 16 }), head);
}

/** Throws `GuideRefused` unless these first bytes of a document begin an XMLTV guide. */
export async function requireXmltv(head: Buffer): Promise<void> {
  const reader = new XmltvReader(() => undefined);
  try {
    for await (const text of textOf(Readable.from([head]), head)) {
      reader.write(text);
      if (reader.isXmltv) return;
    }
  } catch (error) {
    if (!(error instanceof GuideRefused) || !reader.isXmltv) throw error;
    return;
  }
  throw new GuideRefused('not_xmltv', 'this is not XMLTV');
}
