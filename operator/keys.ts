// Secrets that the operator makes once and never rewrites.
import { createHash, generateKeyPairSync, randomBytes, randomUUIDv7 } from 'node:crypto';

const CLAIM_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford's alphabet, without characters that look alike
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
    vapid: { jwk: newP256() },
    serverId: randomUUIDv7(),
  };
}

/** Password for a store that this operator runs. */
export const newPassword = (): string => randomBytes(24).toString('base64url');

/** All sources of randomness, so that tests can replace them. */
export interface Fresh {
  keyRing(): object;
  operatorKey(): string;
  claimCode(): string;
  password(): string;
  /** Redeemed by PUT /auth/password-reset. */
  resetToken(): string;
}

export const fresh: Fresh = {
  keyRing: newKeyRing,
  operatorKey: newOperatorKey,
  claimCode: newClaimCode,
  password: newPassword,
  resetToken: () => `foypr_${randomBytes(32).toString('base64url')}`,
};

const newKid = (): string => randomBytes(6).toString('hex');
const newP256 = (): object => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const newEd25519 = (): object => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
