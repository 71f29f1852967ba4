import { updateAccount } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { listMethodRows, type MethodRow, passwordRow } from './methods.store.ts';

type Kind = MethodRow['kind'] | 'password';

/** Removes a sign-in method and returns its kind. Throws 409 for the last one, and for a second factor that the role requires. */
export async function removeMethod(call: Call, id: string): Promise<Kind> {
  const { db, who } = call;
  await db('accounts').where({ id: who.accountId }).forUpdate().first('id'); // of two concurrent removals each would leave the other method
  const password = await passwordRow(db, who.accountId);
  const rows = await listMethodRows(db, who.accountId);
  const kind = password.has_password && id === who.accountId ? 'password' : rows.find((row) => row.id === id)?.kind;
  if (!kind) throw notFound();
  const left: Kind[] = rows.filter((row) => row.id !== id).map((row) => row.kind);
  if (password.has_password && kind !== 'password') left.push('password');
  refuseLast(call, kind, left);
  if (kind === 'password') {
    await updateAccount(db, { id: who.accountId }, { password_hash: null, password_changed_at: null });
    return kind;
  }
  await db('sign_in_methods').where({ id, account_id: who.accountId }).delete();
  const codesServeNothing = !left.includes('totp') && !left.includes('passkey');
  if (codesServeNothing)
    await db('sign_in_methods').where({ account_id: who.accountId, kind: 'recovery-codes' }).delete();
  return kind;
}

const WAYS_IN: readonly Kind[] = ['password', 'passkey', 'oidc'];

/** Whether the settings permit this kind at sign-in. */
function opens({ deps: { settings }, who }: Call, kind: Kind): boolean {
  if (kind === 'password') return who.role === 'owner' || settings.get('auth.password.enabled');
  if (kind === 'passkey') return settings.get('auth.passkeys.enabled');
  return kind === 'oidc' && settings.get('auth.oidc.issuer') !== null;
}

function refuseLast(call: Call, kind: Kind, left: readonly Kind[]): void {
  const { deps, who } = call;
  if (WAYS_IN.includes(kind) && !left.some((one) => opens(call, one)))
    throw conflict('last-method', 'Nothing would be left to sign in with');
  const required: readonly string[] = deps.settings.get('auth.twoFactor.requiredRoles');
  const was = kind === 'totp' || kind === 'passkey';
  if (was && required.includes(who.role) && !left.includes('totp') && !left.includes('passkey'))
    throw conflict('two-factor-required', 'This role needs a second factor');
}
