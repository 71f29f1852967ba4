// The head of a pack: what it holds, its blocks, and the signature over both.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { workKinds } from './work.ts';

/** The newest format that this program reads and the one that it writes. */
export const FORMAT = 1;
const MAGIC = Buffer.from('FOYERSPN');
/** Magic, format (u16) and length of the manifest (u32), little-endian. */
export const PREFIX_BYTES = MAGIC.length + 6;
const SIGNATURE_BYTES = 64;

export const MAX_PACK_BYTES = 4 * 2 ** 30;
export const MAX_MANIFEST_BYTES = 8 * 2 ** 20;
export const MAX_BLOCK_BYTES = 4 * 2 ** 20;
const MAX_UNPACKED_BYTES = 16 * 2 ** 30;

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
export const Version = z.string().regex(/^\d{4}\.(0[1-9]|1[0-2])\.\d{1,6}$/);
const label = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}]+$/u);

export const sourceNames = ['wikidata', 'musicbrainz', 'openlibrary'] as const;

export const Manifest = z.object({
  name: label(100),
  version: Version,
  /** A delta loads onto this version of the same name. */
  base: Version.optional(),
  kinds: z.array(z.enum(['film', 'show', 'music', 'book'])).max(4),
  languages: z.array(z.string().regex(/^[a-z]{2,3}$/)).max(200),
  /** Rows by kind. */
  works: z.partialRecord(z.enum(workKinds), z.int().min(0)),
  builtAt: z.iso.datetime(),
  sources: z.array(z.object({ name: z.enum(sourceNames), dumpedOn: z.iso.date(), licence: label(100) })).max(10),
  signedBy: z.object({ keyId: z.string().regex(/^[0-9a-f]{16}$/), name: label(100) }),
  blocks: z
    .array(
      z.object({
        bytes: z.int().min(1).max(MAX_BLOCK_BYTES),
        unpackedBytes: z.int().min(1).max(MAX_BLOCK_BYTES),
        rows: z.int().min(1),
        sha256: Hash,
      }),
    )
    .max(65_536),
});
export type Manifest = z.output<typeof Manifest>;

export type PackReason = 'not-a-pack' | 'format-newer' | 'not-trusted' | 'altered' | 'invalid-row';

/** A pack is refused. */
export class PackRefused extends Error {
  readonly reason: PackReason;
  readonly keyId: string | undefined;
  constructor(reason: PackReason, message: string, keyId?: string) {
    super(message);
    this.reason = reason;
    this.keyId = keyId;
  }
}

/** The bytes of the head, by its first `PREFIX_BYTES`. Throws `PackRefused`. */
export function headBytes(prefix: Buffer): number {
  if (prefix.length < PREFIX_BYTES || !prefix.subarray(0, MAGIC.length).equals(MAGIC))
    throw new PackRefused('not-a-pack', 'the file is not a pack');
  const format = prefix.readUInt16LE(MAGIC.length);
  if (format > FORMAT) throw new PackRefused('format-newer', `the pack has format ${format}`);
  const length = prefix.readUInt32LE(MAGIC.length + 2);
  if (format < 1 || length > MAX_MANIFEST_BYTES) throw new PackRefused('not-a-pack', 'the file is not a pack');
  return PREFIX_BYTES + length + SIGNATURE_BYTES;
}

/** A key whose packs are loaded. */
export interface TrustedKey {
  id: string;
  name: string;
  key: KeyObject;
}

export interface Head {
  manifest: Manifest;
  /** Where the first block begins. */
  length: number;
  /** Of the whole pack. */
  sizeBytes: number;
  /** Of the head, which names the hash of every block. */
  sha256: string;
}

/** Checks the signature before anything of the manifest is used but the id of its key. Throws `PackRefused`. */
export function readHead(head: Buffer, trusted: readonly TrustedKey[]): Head {
  const length = headBytes(head);
  if (head.length < length) throw new PackRefused('altered', 'the pack ends too early');
  const signed = head.subarray(0, length - SIGNATURE_BYTES);
  const given = jsonOf(signed.subarray(PREFIX_BYTES));
  const keyId = z.object({ signedBy: z.object({ keyId: z.string() }) }).safeParse(given).data?.signedBy.keyId;
  const key = trusted.find(({ id }) => id === keyId);
  if (!key) throw new PackRefused('not-trusted', 'no trusted key signed the pack', keyId?.slice(0, 64));
  if (!verify(null, signed, key.key, head.subarray(length - SIGNATURE_BYTES, length)))
    throw new PackRefused('altered', 'the signature does not fit the pack');
  const parsed = Manifest.safeParse(given);
  if (!parsed.success) throw new PackRefused('not-a-pack', 'the manifest breaks its schema');
  const sum = (of: 'bytes' | 'unpackedBytes'): number => parsed.data.blocks.reduce((all, one) => all + one[of], 0);
  const sizeBytes = length + sum('bytes');
  if (sizeBytes > MAX_PACK_BYTES || sum('unpackedBytes') > MAX_UNPACKED_BYTES)
    throw new PackRefused('not-a-pack', 'the pack is too large');
  return { manifest: parsed.data, length, sizeBytes, sha256: sha256Of(head.subarray(0, length)) };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new PackRefused('not-a-pack', 'the manifest is no JSON');
  }
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The head of a pack, signed. The manifest gets the id of the key. */
export function writeHead(manifest: Omit<Manifest, 'signedBy'>, signer: { privateKey: string; name: string }): Buffer {
  const key = createPrivateKey(signer.privateKey);
  const keyId = idOfKey(rawKey(createPublicKey(key)));
  const json = Buffer.from(JSON.stringify({ ...manifest, signedBy: { keyId, name: signer.name } }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  MAGIC.copy(prefix);
  prefix.writeUInt16LE(FORMAT, MAGIC.length);
  prefix.writeUInt32LE(json.length, MAGIC.length + 2);
  const signed = Buffer.concat([prefix, json]);
  return Buffer.concat([signed, sign(null, signed, key)]);
}

/** The 32 bytes of an Ed25519 public key. */
export const rawKey = (key: KeyObject): Buffer => Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');

export const idOfKey = (raw: Buffer): string => sha256Of(raw).slice(0, 16);

/** A key of `spine.trustedKeys`: the 32 bytes in base64, perhaps after a name and a blank. Undefined for another text. */
export function trustedKeyOf(text: string): TrustedKey | undefined {
  const at = text.lastIndexOf(' ');
  const raw = Buffer.from(text.slice(at + 1), 'base64');
  if (raw.length !== 32) return undefined;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
  const id = idOfKey(raw);
  return { id, name: at > 0 ? text.slice(0, at).trim() : id, key };
}

export const trustedKeysOf = (texts: readonly string[]): TrustedKey[] =>
  texts.flatMap((text) => trustedKeyOf(text) ?? []);
