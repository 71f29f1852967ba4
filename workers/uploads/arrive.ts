// The stored chunks as one object: joined, hashed, and recognised by the first bytes.
import { createHash } from 'node:crypto';
import { extensionOf, keyOf, kindOfName, noteArrival, type UploadRow } from '#areas/uploads/public.ts';
import { mediaTypes, sniffPicture } from '#platform/pictures-sniff.ts';
import { ProbeError } from '../probe/fault.ts';
import { SNIFF_BYTES, sniff } from '../probe/sniff.ts';
import type { Work } from '../work.ts';

export const BUCKET = 'foyer-uploads';

/** The file is refused for good; `reason` is an UploadError. */
export class Unfit extends Error {
  readonly reason:
    | 'checksum-mismatch'
    | 'not-a-photo'
    | 'unsupported-format'
    | 'corrupt'
    | 'access-lost'
    | 'library-gone';
  constructor(reason: Unfit['reason']) {
    super(reason);
    this.reason = reason;
  }
}

/** Joins the chunks, compares the hash with the announced one, and notes hash and type. Throws `Unfit`. */
export async function arrive(work: Work, row: UploadRow): Promise<string> {
  if (row.sha256) return row.sha256;
  const { db, objects } = work;
  const key = keyOf(row.id);
  const chunks = await db('upload_chunks').where({ upload_id: row.id }).orderBy('index').select('index', 'etag');
  const parts = chunks.map(({ index, etag }) => ({ number: index + 1, etag }));
  await objects.joinParts({ bucket: BUCKET, key, id: row.parts_id ?? '' }, parts);
  const { sha256, head, size } = await readObject(work, key);
  if (size !== row.size_bytes) throw new Unfit('corrupt');
  if (row.announced_sha256 && row.announced_sha256 !== sha256) throw new Unfit('checksum-mismatch');
  await noteArrival(db, row.id, { sha256, mime: mimeOf(row.name, head) });
  return sha256;
}

/** Whether the stored object still has the hash that it arrived with. */
export async function isIntact(work: Work, { id, sha256 }: UploadRow): Promise<boolean> {
  return (await readObject(work, keyOf(id))).sha256 === sha256;
}

async function readObject(work: Work, key: string): Promise<{ sha256: string; head: Buffer; size: number }> {
  const hash = createHash('sha256');
  let head = Buffer.alloc(0);
  let size = 0;
  for await (const piece of (await work.objects.get(BUCKET, key)) as AsyncIterable<Buffer>) {
    work.signal.throwIfAborted();
    hash.update(piece);
    size += piece.length;
    if (head.length < SNIFF_BYTES) head = Buffer.concat([head, piece.subarray(0, SNIFF_BYTES - head.length)]);
  }
  return { sha256: hash.digest('hex'), head, size };
}

const CONTAINERS: Readonly<Record<string, string>> = {
  matroska: 'video/x-matroska',
  mp4: 'video/mp4',
  avi: 'video/x-msvideo',
};

/** Camera files are TIFF, or have a mark of their maker. */
const RAW = [/^(?:II|MM)/, /^FUJIFILM/, /^....ftypcrx/s];

/** The media type by content. Throws `Unfit` for content that is not what the name says. */
function mimeOf(name: string, head: Buffer): string {
  const kind = kindOfName(name);
  if (kind === 'sidecar') {
    if (!/^\uFEFF?\s*<(?:\?xpacket|\?xml|x:xmpmeta)/.test(head.toString('utf8'))) throw new Unfit('not-a-photo');
    return 'application/rdf+xml';
  }
  if (kind === 'film') return filmType(head);
  const format = sniffPicture(head);
  if (format && format !== 'svg' && format !== 'bmp') return mediaTypes[format];
  if (RAW.some((mark) => mark.test(head.toString('latin1', 0, 16)))) return `image/x-${extensionOf(name)}`;
  throw new Unfit(format ? 'unsupported-format' : 'not-a-photo');
}

function filmType(head: Buffer): string {
  try {
    const type = CONTAINERS[sniff(head).container];
    if (type) return type;
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    throw new Unfit('not-a-photo');
  }
  throw new Unfit('unsupported-format');
}
