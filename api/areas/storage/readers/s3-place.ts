// A new object under its final name: it is there only when all of its parts are, and only when no other object has the name.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Client } from 'minio';
import { appearing, sent } from './placing.ts';
import { Altered, type NewFile, Occupied, type Placing, Unsent } from './reader.ts';

const MIB = 1 << 20;
/** Of one part, which is in memory while it is sent. */
const PART_BYTES = 8 * MIB;
const MOST_PARTS = 10_000;
const ONLY_NEW = { 'if-none-match': '*' };

interface Target {
  client: Client;
  bucketName: string;
  objectName: string;
}

/** Throws `Occupied`, and the errors of the client. */
export async function placeObject(target: Target, file: NewFile & Placing): Promise<void> {
  await requireFree(target);
  await sent(file, (body) => putParts(target, body, file));
  const found = await findObject(target);
  if (!found) throw new Unsent('the bucket lost the object');
  if (found.size !== file.size) throw new Altered('the bucket holds another size than was sent');
}

/** Parts that are not there any more are no fault. */
export async function dropParts({ client, bucketName, objectName }: Target, id: string): Promise<void> {
  await client.abortMultipartUpload(bucketName, objectName, id).catch((error: unknown) => {
    if (codeOf(error) !== 'NoSuchUpload') throw error;
  });
}

async function findObject({ client, bucketName, objectName }: Target): Promise<{ size: number } | undefined> {
  return client.statObject(bucketName, objectName).catch((error: unknown) => {
    if (!['NotFound', 'NoSuchKey'].includes(codeOf(error))) throw error;
    return undefined;
  });
}

async function requireFree(target: Target): Promise<void> {
  if (await findObject(target)) throw occupied();
}

const occupied = (): Occupied => new Occupied('an object is there already');

async function putParts(target: Target, body: Readable, file: NewFile & Placing): Promise<void> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(file.size / MOST_PARTS / MIB) * MIB);
  const whole = createHash('sha256');
  if (file.size <= partBytes) {
    const [only = Buffer.alloc(0)] = await Array.fromAsync(blocksOf(body, partBytes));
    requireHash(whole.update(only), file);
    await appearing(file);
    await onlyNew(target, (headers) => send(target, { method: 'PUT', headers: { ...headers, ...md5Of(only) } }, only));
    return;
  }
  const { client, bucketName, objectName } = target;
  const id = await client.initiateNewMultipartUpload(bucketName, objectName, {});
  try {
    await file.noteParts?.(id);
    const etags: string[] = [];
    for await (const block of blocksOf(body, partBytes)) {
      file.signal?.throwIfAborted();
      whole.update(block);
      const query = new URLSearchParams({ partNumber: String(etags.length + 1), uploadId: id }).toString();
      const { etag } = await send(target, { method: 'PUT', query, headers: md5Of(block) }, block);
      etags.push(etag);
      file.moved?.();
    }
    requireHash(whole, file);
    await appearing(file);
    await join(target, id, etags);
  } catch (error) {
    await client.abortMultipartUpload(bucketName, objectName, id).catch(() => undefined);
    throw error;
  }
}

function requireHash(whole: ReturnType<typeof createHash>, { sha256 }: NewFile): void {
  if (whole.digest('hex') !== sha256) throw new Unsent('the file changed while it was read');
}

/** With it the store refuses a part whose bytes changed on the way. */
const md5Of = (bytes: Buffer): Record<string, string> => ({
  'content-md5': createHash('md5').update(bytes).digest('base64'),
});

async function* blocksOf(body: Readable, size: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let held = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece);
    held += piece.length;
    if (held < size) continue;
    const all = Buffer.concat(pieces);
    yield all.subarray(0, size);
    pieces = [all.subarray(size)];
    held -= size;
  }
  if (held > 0) yield Buffer.concat(pieces);
}

/** Makes the object of its parts. A store may answer 200 and report an error in the body. */
async function join(target: Target, id: string, etags: readonly string[]): Promise<void> {
  const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const xml = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
  const query = new URLSearchParams({ uploadId: id }).toString();
  const complete = (headers: Record<string, string>) =>
    send(target, { method: 'POST', query, headers }, Buffer.from(xml));
  await requireFree(target); // a store may not know the condition, and the parts took their time
  const { answer } = await onlyNew(target, complete);
  if (!answer.includes('<Error>')) return;
  const [, code = 'InternalError'] = /<Code>([^<]*)/.exec(answer) ?? [];
  throw code === 'PreconditionFailed' ? occupied() : Object.assign(new Error(code), { code });
}

interface Sending {
  method: 'PUT' | 'POST';
  query?: string;
  headers: Record<string, string>;
}

async function send(
  { client, bucketName, objectName }: Target,
  sending: Sending,
  content: Buffer,
): Promise<{ etag: string; answer: string }> {
  const response = await client.makeRequestAsync({ ...sending, bucketName, objectName }, content);
  const etag = String(response.headers['etag'] ?? '').replaceAll('"', '');
  return { etag, answer: await text(response) };
}

/** Stores without conditional writes get the request without the condition, when the name is still free. */
async function onlyNew<T>(target: Target, write: (headers: Record<string, string>) => Promise<T>): Promise<T> {
  try {
    return await write(ONLY_NEW);
  } catch (error) {
    if (codeOf(error) !== 'NotImplemented') throw codeOf(error) === 'PreconditionFailed' ? occupied() : error;
  }
  await requireFree(target);
  return write({});
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
