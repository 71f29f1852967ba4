import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { type Keys, sign } from '#platform/keys.ts';

/**
 * Positions in the order of all events, as clients see them: 16 bytes (check, number, time of writing, random),
 * encrypted as one block under a key of this server, so that two of the same number differ and reveal no counts.
 */
export interface Positions {
  write(place: number): string;
  /** Undefined for a text that this server did not write. */
  read(text: string): Position | undefined;
}

export interface Position {
  place: number;
  /** When the position was written, in epoch milliseconds. */
  atMs: number;
}

const CHECK_BYTES = 3;
const PLACE_BYTES = 6;
const TIME_BYTES = 6;
const TIME_AT = CHECK_BYTES + PLACE_BYTES;
const LENGTH = 22;

export function createPositions(keys: Keys): Positions {
  const key = sign(keys, 'event-position').subarray(0, 16);
  const check = createHash('sha256').update(keys.serverId).digest().subarray(0, CHECK_BYTES);
  const options = { key: Buffer.from(key), none: null };
  return {
    write(place) {
      const block = randomBytes(16);
      check.copy(block);
      block.writeUIntBE(place, CHECK_BYTES, PLACE_BYTES);
      block.writeUIntBE(Date.now(), TIME_AT, TIME_BYTES);
      const cipher = createCipheriv('aes-128-ecb', options.key, options.none).setAutoPadding(false);
      return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
    },
    read(text) {
      if (text.length !== LENGTH) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length !== 16) return undefined;
      const decipher = createDecipheriv('aes-128-ecb', options.key, options.none).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(bytes), decipher.final()]);
      if (!block.subarray(0, CHECK_BYTES).equals(check)) return undefined;
      return { place: block.readUIntBE(CHECK_BYTES, PLACE_BYTES), atMs: block.readUIntBE(TIME_AT, TIME_BYTES) };
    },
  };
}
