import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';
import { z } from 'zod';
import type { Objects } from '#platform/objects.ts';
import { chunksOf, wholeBody } from './body.ts';
import { ApiError, invalid } from './errors.ts';
import { shapeFault } from './json-shape.ts';
import { type StoredPart, StoredParts, type StoredUpload } from './stored-uploads.ts';

/** Bytes of a request: the whole body, or one part of a form. */
export class Upload {
  readonly bytes: Buffer;
  /** Media type from the sender, without parameters; empty when absent. */
  readonly type: string;
  /** File name from the sender; empty when absent. */
  readonly name: string;
  constructor(bytes: Buffer, type: string, name = '') {
    this.bytes = bytes;
    this.type = type;
    this.name = name;
  }
  /** The hash of the content, for the comparison by Idempotency-Key. */
  toJSON(): object {
    return { type: this.type, name: this.name, sha256: createHash('sha256').update(this.bytes).digest('hex') };
  }
}

/** Schema of a body or member of bytes. */
export const uploaded = z.instanceof(Upload, { error: 'bytes, as a part of multipart/form-data' });

/** A part of a form that is a file. */
export interface FilePart {
  /** Media types for the description; the actual type is detected from the content. */
  media: readonly string[];
  maxBytes: number;
  /** Kept in the object store as it arrives; the member is a `StoredUpload`. */
  stored?: StoredPart;
  /** Parts of this name that a form may have; the member is a list. `maxBytes` is the limit of all of them together. */
  many?: number;
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', { maxBytes });
const typeOf = (header = ''): string => header.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** The whole body as an upload. Throws 413 over `maxBytes`, 400 for an empty body. */
export async function readUpload(request: IncomingMessage, maxBytes: number): Promise<Upload> {
  const bytes = await wholeBody(request, maxBytes);
  if (bytes.length === 0) throw invalid(['body'], 'required', 'the body is the bytes themselves');
  return new Upload(bytes, typeOf(request.headers['content-type']));
}

/** Fields of application/x-www-form-urlencoded, each once. Throws 413 over `maxBytes`, 400 for another format. */
export async function readUrlEncoded(request: IncomingMessage, maxBytes: number): Promise<Record<string, string>> {
  const { bytes, type } = await readUpload(request, maxBytes);
  if (type !== 'application/x-www-form-urlencoded')
    throw invalid(['headers', 'content-type'], 'not_form', 'the body must be application/x-www-form-urlencoded');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (fields.has(name)) throw invalid(['body', name], 'duplicate', 'given more than once');
    if (fields.size >= MOST_FIELDS) throw invalid(['body'], 'too_many_fields', `at most ${MOST_FIELDS} fields`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

export const isForm = (request: IncomingMessage): boolean =>
  typeOf(request.headers['content-type']) === 'multipart/form-data';

export interface FormShape {
  files: Readonly<Record<string, FilePart>>;
  /** Body schema of the endpoint, which decides which fields are text. */
  schema: z.core.$ZodType | undefined;
  /** Largest size of all fields other than files, in bytes. */
  maxFieldBytes: number;
  objects: Objects;
}

const MOST_PARTS = 200;
const MOST_FIELDS = 200;
/** Extra bytes for boundaries and headers of parts. */
const FRAMING_BYTES = 65_536;

/**
 * Members of a multipart/form-data body: files as `Upload`, fields as text where the schema is text, else as JSON.
 * Throws 400 for an invalid form and for a repeated part, 413 with the limit that was exceeded.
 */
export async function readForm(request: IncomingMessage, form: FormShape): Promise<Record<string, unknown>> {
  const most = Object.values(form.files).reduce(
    (sum, { maxBytes }) => sum + maxBytes,
    form.maxFieldBytes + FRAMING_BYTES,
  );
  const members = new Map<string, unknown>();
  let refused: ApiError | undefined;
  let fieldBytes = 0;
  const take = (name: string, value: unknown): void => {
    if (members.has(name)) refused ??= invalid(['body', name], 'duplicate', 'given more than once');
    members.set(name, value);
  };
  const lists = new Lists((fault) => {
    refused ??= fault;
  });
  const parts = new StoredParts(form.objects);
  const parser = parserOf(request, form);
  parser.on('field', (name, text, ...[, cut, , type]) => {
    fieldBytes += text.length;
    if (cut || fieldBytes > form.maxFieldBytes) refused ??= tooLarge(form.maxFieldBytes);
    else if (Object.hasOwn(form.files, name)) refused ??= invalid(['body', name], 'not_a_file', 'this part is a file');
    else take(name, fieldValue(name, text, { form, type }));
  });
  parser.on('file', (name, stream, ...[fileName, , type]) => {
    const part = Object.hasOwn(form.files, name) ? form.files[name] : undefined;
    if (!part) refused ??= invalid(['body', name], 'unknown_field', 'there is no such file');
    const end = (file: Upload | StoredUpload | undefined): void => {
      if (part?.many && file instanceof Upload) members.set(name, lists.add(name, file, part));
      else if (file) take(name, file);
      else if (part) refused ??= tooLarge(part.maxBytes);
    };
    if (part?.stored) parts.add(stream, { part: part.stored, most: part.maxBytes }, end);
    else
      collect(stream, part?.maxBytes ?? 0, (bytes) => end(bytes && part && new Upload(bytes, typeOf(type), fileName)));
  });
  parser.on('partsLimit', () => {
    refused ??= invalid(['body'], 'too_many_parts', `at most ${MOST_PARTS} parts`);
  });
  const isStored = Object.values(form.files).some((part) => part.stored);
  await pipeline(chunksOf(request, most, { passing: isStored }), parser).catch((error: unknown) => {
    const broken = invalid(['body'], 'invalid_form', 'the body is not valid multipart/form-data');
    refused ??= error instanceof ApiError ? error : broken;
  });
  await parts.settle(refused).catch((error: unknown) => parts.drop().then(() => Promise.reject(error)));
  if (refused) {
    await parts.drop();
    throw refused;
  }
  return Object.fromEntries(members);
}

/** Parts that a form may have several times. */
class Lists {
  readonly #lists = new Map<string, Upload[]>();
  readonly #refuse: (fault: ApiError) => void;

  constructor(refuse: (fault: ApiError) => void) {
    this.#refuse = refuse;
  }

  add(name: string, upload: Upload, { many = 0, maxBytes }: FilePart): Upload[] {
    const list = [...(this.#lists.get(name) ?? []), upload];
    this.#lists.set(name, list);
    const size = list.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (list.length > many) this.#refuse(invalid(['body', name], 'too_many', `at most ${many} files`));
    else if (size > maxBytes) this.#refuse(tooLarge(maxBytes));
    return list;
  }
}

function parserOf(request: IncomingMessage, { files, maxFieldBytes }: FormShape) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      isPartAFile: (name, _type, fileName) => fileName !== undefined || Object.hasOwn(files, name ?? ''),
      limits: {
        parts: MOST_PARTS,
        fieldSize: maxFieldBytes,
        fileSize: Math.max(...Object.values(files).map(({ maxBytes }) => maxBytes)) + 1,
        headerPairs: 50,
        headerSize: 16_384,
      },
    });
  } catch {
    throw invalid(['headers', 'content-type'], 'invalid_form', 'multipart/form-data needs a boundary');
  }
}

/** Calls `done` at the end with all bytes, or with undefined when there are more than `most`. */
function collect(stream: BusboyFileStream, most: number, done: (bytes: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
  });
  stream.on('end', () => done(size <= most ? Buffer.concat(chunks) : undefined));
}

/** Parses a field: by `Content-Type: application/json` as JSON, else as text where the schema is text. */
function fieldValue(name: string, text: string, { form, type }: { form: FormShape; type: string }): unknown {
  const shape = form.schema instanceof z.ZodObject ? form.schema.shape : {};
  const member = Object.hasOwn(shape, name) ? (shape[name] as z.core.$ZodType) : undefined;
  const isJson = typeOf(type) === 'application/json';
  if (!isJson && (!member || z.safeParse(member, text).success)) return text;
  if (shapeFault(Buffer.from(text))) return text;
  try {
    return JSON.parse(text, (key: string, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    return text;
  }
}
