import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { commonPasswords } from './common-passwords.ts';

/** 400 for a password that is too short, too common or one of `names`, the names of the account. */
export function refuseWeakPassword(call: Call, password: string, names: readonly (string | null)[]): void {
  refuseWeak(call, password, { names, field: 'newPassword' });
}

/** The same for a password in another field of the body. */
export function refuseWeak(
  { deps }: Call,
  password: string,
  { names, field }: { names: readonly (string | null | undefined)[]; field: string },
): void {
  const path = ['body', field];
  const folded = password.normalize('NFC').toLowerCase();
  const known = [...names, deps.settings.get('server.name')].flatMap((name) => (name ? [name.toLowerCase()] : []));
  if (commonPasswords.has(folded) || known.includes(folded)) throw invalid(path, 'weak_password', 'too easily guessed');
  if (password.length < deps.settings.get('auth.password.minLength'))
    throw invalid(path, 'too_small', 'the password is too short');
}
