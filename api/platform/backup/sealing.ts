// Bytes in frames of AES-256-GCM: 4 bytes (length of the cipher text, the top bit marks the last frame), 12 of nonce,
// the text, 16 of tag.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { type Algorithm, hashRaw } from '@node-rs/argon2';
import type { BackupEncryption } from '#platform/backup-manifest.ts';
import { BackupFault } from './faults.ts';

const FRAME_BYTES = 64 * 1024;
const LAST = 0x80000000;
const HEAD_BYTES = 16;
const TAG_BYTES = 16;
const ARGON2ID: Algorithm = 2; // the enum exists for the compiler only

/** Parameters for new passphrases: 64 MiB, 3 passes, one lane. */
export const KDF = { kdf: 'argon2id', memoryKiB: 65_536, passes: 3, lanes: 1 } as const;

export interface BackupKey {
  key: Buffer;
  fingerprint: string;
}

/** Derives the key; the same passphrase and salt give the same key. */
export async function deriveKey(
  passphrase: string,
  { salt, memoryKiB, passes, lanes }: Omit<BackupEncryption, 'fingerprint'>,
): Promise<BackupKey> {
  const key = await hashRaw(passphrase.normalize('NFC'), {
    algorithm: ARGON2ID,
    salt: Buffer.from(salt, 'base64'),
    memoryCost: memoryKiB,
    timeCost: passes,
    parallelism: lanes,
    outputLen: 32,
  });
  return { key, fingerprint: createHmac('sha256', key).update('foyer-backup').digest('hex').slice(0, 8) };
}

/** The key of a backup. Throws `wrong-passphrase`. */
export async function openKey(passphrase: string, encryption: BackupEncryption): Promise<BackupKey> {
  const key = await deriveKey(passphrase, encryption);
  if (key.fingerprint !== encryption.fingerprint)
    throw new BackupFault('wrong-passphrase', 'The backup was made with another passphrase');
  return key;
}

/** Binds place, number and last-frame mark, so that frames cannot be moved, dropped or truncated. */
const boundIn = (place: string, index: number, last: boolean): Buffer => Buffer.from(`${place}|${index}|${last}`);

/** Encrypts a stream; `place` is the name under which it is stored. */
export function sealing({ key }: BackupKey, place: string): Transform {
  let held = Buffer.alloc(0);
  let index = 0;
  const frame = (plain: Buffer, last: boolean): Buffer => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundIn(place, index, last));
    index += 1;
    const head = Buffer.alloc(4);
    head.writeUInt32BE((plain.length | (last ? LAST : 0)) >>> 0);
    return Buffer.concat([head, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = Buffer.concat([held, chunk]);
      for (; held.length > FRAME_BYTES; held = held.subarray(FRAME_BYTES)) {
        this.push(frame(held.subarray(0, FRAME_BYTES), false));
      }
      done();
    },
    flush(done) {
      done(null, frame(held, true));
    },
  });
}

/** Decrypts a stream of `sealing`. Fails with `damaged` at the first frame that was changed. */
export function unsealing({ key }: BackupKey, place: string): Transform {
  let held = Buffer.alloc(0);
  let index = 0;
  let ended = false;
  const open = (sealed: Buffer, last: boolean): Buffer => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(4, HEAD_BYTES))
      .setAAD(boundIn(place, index, last))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    index += 1;
    ended = last;
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
  };
  /** The next complete frame of the buffered bytes. */
  const take = (): Buffer | undefined => {
    if (held.length < HEAD_BYTES) return undefined;
    const head = held.readUInt32BE();
    const length = head & ~LAST;
    if (ended || length > FRAME_BYTES) throw new Error('no frame');
    const bytes = HEAD_BYTES + length + TAG_BYTES;
    if (held.length < bytes) return undefined;
    const plain = open(held.subarray(0, bytes), head >= LAST);
    held = held.subarray(bytes);
    return plain;
  };
  const damaged = (): BackupFault => new BackupFault('damaged', 'A sealed part does not open');
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      held = Buffer.concat([held, chunk]);
      try {
        for (let plain = take(); plain; plain = take()) this.push(plain);
        done();
      } catch {
        done(damaged());
      }
    },
    flush(done) {
      done(ended && held.length === 0 ? null : damaged());
    },
  });
}

/** Encrypted size of a number of plain bytes. */
export const sealedBytes = (plain: number): number =>
  plain + Math.max(1, Math.ceil(plain / FRAME_BYTES)) * (HEAD_BYTES + TAG_BYTES);
