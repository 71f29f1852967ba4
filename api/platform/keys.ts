import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { z } from 'zod';

const Jwk = z.record(z.string(), z.unknown());
const Bytes32 = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32);
const KeysFile = z.object({
  signing: z.array(z.object({ kid: z.string(), jwk: Jwk })).min(1),
  sealing: z.array(z.object({ kid: z.string(), key: Bytes32 })).min(1),
  cursor: Bytes32,
  identity: z.object({ jwk: Jwk }),
  vapid: z.object({ jwk: z.object({ x: z.string(), y: z.string(), d: z.string() }) }).optional(),
  serverId: z.uuid(),
});

/**
 * Key ring of the deployment: a file (a Secret in a cluster); the first entry of each list is current. A ring of {@link
 * ringOf} follows rotations (signing, sealing, vapid); serverId, cursor and identity never change while the process
 * runs.
 */
export interface Keys {
  serverId: string;
  signing: { kid: string; privateKey: CryptoKey; publicKey: CryptoKey }[];
  sealing: { kid: string; key: Buffer }[];
  cursor: KeyObject;
  /** Signs requests to push services (RFC 8292): base64url, the point uncompressed. */
  vapid?: { publicKey: string; privateKey: string; keyId: string };
  /** SHA-256 of the server's public identity key, hex. */
  identityFingerprint: string;
  /** Reads the file again when a key is unknown; absent unless a file is followed. */
  refresh?: () => Promise<void>;
}

const EVERY_MS = 5000;
const AT_MOST_MS = 1000;
const rings = new Map<string, Promise<Keys>>();

/**
 * The ring of this process; rotations in the file take effect within seconds. The first read throws like `readKeys`.
 */
export function ringOf(file: string): Promise<Keys> {
  const known = rings.get(file);
  if (known) return known;
  const ring = followed(file);
  rings.set(file, ring);
  ring.catch(() => rings.delete(file));
  return ring;
}

async function followed(file: string): Promise<Keys> {
  let text = readFileSync(file, 'utf8');
  const keys = await parseKeys(text);
  let looked = 0;
  const look = async (): Promise<void> => {
    looked = Date.now();
    const now = await readFile(file, 'utf8');
    if (now === text) return;
    const { serverId, signing, sealing, vapid } = await parseKeys(now);
    if (serverId !== keys.serverId) throw new Error("the key ring is another server's");
    Object.assign(keys, { signing, sealing }, vapid && { vapid });
    text = now;
  };
  const quietly = (): Promise<void> => look().catch(() => undefined); // half written or missing: the last ring stays
  setInterval(() => void quietly(), EVERY_MS).unref();
  keys.refresh = () => (Date.now() - looked < AT_MOST_MS ? Promise.resolve() : quietly());
  return keys;
}

function publicPart(jwk: JWK): JWK {
  const { d: _private, ...rest } = jwk;
  return rest;
}

/** Throws when the file is absent or malformed: a process without keys does not start. */
export async function readKeys(file: string): Promise<Keys> {
  return parseKeys(readFileSync(file, 'utf8'));
}

async function parseKeys(text: string): Promise<Keys> {
  const ring = KeysFile.parse(JSON.parse(text));
  const signing = await Promise.all(
    ring.signing.map(async ({ kid, jwk }) => ({
      kid,
      privateKey: (await importJWK(jwk as JWK, 'EdDSA')) as CryptoKey,
      publicKey: (await importJWK(publicPart(jwk as JWK), 'EdDSA')) as CryptoKey,
    })),
  );
  return {
    serverId: ring.serverId,
    signing,
    sealing: ring.sealing,
    cursor: createSecretKey(ring.cursor), // created once, because bytes would be converted at each signature
    identityFingerprint: sha256(String(ring.identity.jwk.x)),
    ...(ring.vapid && { vapid: vapidOf(ring.vapid.jwk) }),
  };
}

function vapidOf({ x, y, d }: { x: string; y: string; d: string }): NonNullable<Keys['vapid']> {
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { publicKey: point.toString('base64url'), privateKey: d, keyId: sha256(point).slice(0, 16) };
}

export function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * AES-256-GCM under the current key; `place` (table|column|row) is bound in, so that a value that was moved does not
 * open.
 */
export function seal(keys: Keys, text: string, place: string): string {
  const [current] = keys.sealing;
  if (!current) throw new Error('no sealing key');
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${current.kid}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

/** The name, in conditions, faults and notifications, for values that no key of the ring opens. */
export const SEALED_KEY_MISMATCH = 'SealedKeyMismatch';

/** Undefined when the key is unknown or the value was changed or moved. */
export function unseal(keys: Keys, sealed: string, place: string): string | undefined {
  const dot = sealed.indexOf('.');
  const key = keys.sealing.find(({ kid }) => kid === sealed.slice(0, dot))?.key;
  const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
  if (!key || bytes.length < 28) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Whether the current key sealed it. */
export function isCurrent(keys: Keys, sealed: string): boolean {
  return sealed.startsWith(`${keys.sealing[0]?.kid}.`);
}

/** First 16 bytes of HMAC-SHA256 under the cursor key. */
export function sign(keys: Keys, text: string): Buffer {
  return createHmac('sha256', keys.cursor).update(text).digest().subarray(0, 16);
}
