import { randomBytes } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { findMethod } from '../methods/methods.store.ts';
import { hashSalted } from '../passwords/passwords.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // 32 letters: 5 bits each, 50 a code
const COUNT = 10;
const LENGTH = 10;

const plain = (code: string): string => code.toUpperCase().replace(/[^0-9A-Z]/g, '');

function newCode(): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Replaces the codes by ten new ones; only their argon2id hashes are stored. */
export async function replaceRecoveryCodes(db: Db, accountId: string): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, newCode);
  const salt = randomBytes(16);
  const hashes = await Promise.all(codes.map((code) => hashSalted(plain(code), salt)));
  await db('sign_in_methods').where({ account_id: accountId, kind: 'recovery-codes' }).delete();
  const id = newId();
  await db('sign_in_methods').insert({ id, account_id: accountId, kind: 'recovery-codes', salt });
  await db('recovery_codes').insert(hashes.map((hash) => ({ method_id: id, hash })));
  return codes;
}

const NO_SALT = randomBytes(16);

/** Uses a code up. One salt for the set makes it one hash to look up; of concurrent uses exactly one succeeds. */
export async function useRecoveryCode(db: Db, accountId: string, code: string): Promise<boolean> {
  const set = await findMethod(db, accountId, 'recovery-codes');
  const hash = await hashSalted(plain(code), set?.salt ?? NO_SALT);
  if (!set) return false;
  const used = await db('recovery_codes')
    .where({ method_id: set.id, hash })
    .whereNull('used_at')
    .update({ used_at: db.fn.now() });
  if (used === 1) await db('sign_in_methods').where({ id: set.id }).update({ last_used_at: db.fn.now() });
  return used === 1;
}
