// Secrets that the operator makes once and never rewrites.
import { createHash, generateKeyPairSync, randomBytes, randomUUIDv7 } from 'node:crypto';

const CLAIM_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford: nothing that is read as another
const CLAIM_LETTERS = 26;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** 26 letters and digits, 130 random bits. */
export function newClaimCode(): string {
  return Array.from(randomBytes(CLAIM_LETTERS), (byte) => CLAIM_ALPHABET[byte & 31]).join('');
}

/** `foyer_` and 256 bits. */
export const newOperatorKey = (): string => `foyer_${randomBytes(32).toString('base64url')}`;

/** The key ring that every process reads; the first entry of a list is the current one. */
export function newKeyRing(): object {
  return {
    signing: [{ kid: newKid(), jwk: newEd25519() }],
    sealing: [{ kid: newKid(), key: randomBytes(32).toString('base64') }],
    cursor: randomBytes(32).toString('base64'),
    identity: { jwk: newEd25519() },
    serverId: randomUUIDv7(),
  };
}

const newKid = (): string => randomBytes(6).toString('hex');
const newEd25519 = (): object => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
