import { randomBytes, randomUUIDv7 } from 'node:crypto';

/** UUIDv7: ids sort by creation time. */
export function newId(): string {
  return randomUUIDv7();
}

/** 256 random bits as 43 characters of base64url, after `prefix`. */
export function newSecret(prefix: string): string {
  return prefix + randomBytes(32).toString('base64url');
}
