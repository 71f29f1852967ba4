import type { z } from 'zod';
import { requireConfirmedMain, requireMain } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { EndedSessions } from '../auth.schemas.ts';
import { notifyMethodChanged } from '../notify.ts';
import { changeOwnPassword } from '../passwords/change-password.ts';
import { confirm } from './confirm.ts';
import { ChangePassword, Confirmed, ConfirmIdentity, SignInMethods } from './methods.schemas.ts';
import { countRecoveryCodes, listMethodRows, passwordMethod, passwordRow, toMethod } from './methods.store.ts';
import { removeMethod } from './remove-method.ts';

export const confirmIdentity = defineEndpoint({
  operationId: 'confirmIdentity',
  method: 'post',
  path: '/auth/confirm',
  summary: 'Confirm the identity of the caller',
  description:
    'Proves the person for ten minutes by exactly one of password, code and passkey; sensitive operations require it. With two-factor on, a password alone is 401 `AUTH_2FA_REQUIRED` with a challenge, to be sent here with the second factor. An account that has only OIDC confirms with `startOidc`. A failure leaves the session unchanged.',
  access: { person: true },
  anyHour: true,
  body: ConfirmIdentity,
  answer: json(200, Confirmed),
  errors: ['UNAUTHENTICATED', 'AUTH_2FA_REQUIRED', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    return confirm(call, body);
  },
});

export const changePassword = defineEndpoint({
  operationId: 'changePassword',
  method: 'put',
  path: '/auth/password',
  summary: 'Set a new password for the account',
  description:
    'Needs the main profile and, unless the session is confirmed or the account has none, the current password; a wrong one is 400 `wrong_password` and counts as an attempt. It ends the other sessions unless `endOthers` is false, and invalidates open reset links. The password of an owner that a resource declares is 409 `managed-by-resource`.',
  access: { person: true },
  anyHour: true,
  body: ChangePassword,
  answer: json(200, EndedSessions),
  errors: ['FORBIDDEN', 'CONFLICT', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    requireMain(call.who);
    return changeOwnPassword(call, body);
  },
});

export const listSignInMethods = defineEndpoint({
  operationId: 'listSignInMethods',
  method: 'get',
  path: '/auth/methods',
  summary: 'List the sign-in methods of the account',
  description:
    'Needs the main profile. Lists the password, passkeys, authenticator app, recovery codes and linked OpenID identities without any secret, whether two-factor is on or required, and which methods can be added.',
  access: { person: true },
  anyHour: true,
  answer: json(200, SignInMethods),

  async handle(_input, call) {
    requireMain(call.who);
    return readMethods(call);
  },
});

async function readMethods({ db, who, deps }: Call): Promise<z.input<typeof SignInMethods>> {
  const password = await passwordRow(db, who.accountId);
  const rows = await listMethodRows(db, who.accountId);
  const left = await countRecoveryCodes(db, who.accountId);
  const kinds = rows.map(({ kind }) => kind);
  const required: readonly string[] = deps.settings.get('auth.twoFactor.requiredRoles');
  return {
    items: [...(password.has_password ? [passwordMethod(password)] : []), ...rows.map((row) => toMethod(row, left))],
    twoFactor: { on: kinds.includes('totp') || kinds.includes('passkey'), required: required.includes(who.role) },
    available: {
      passkeys: deps.settings.get('auth.passkeys.enabled'),
      oidc: Boolean(deps.settings.get('auth.oidc.issuer')),
      totp: !kinds.includes('totp'),
    },
  };
}

export const removeSignInMethod = defineEndpoint({
  operationId: 'removeSignInMethod',
  method: 'delete',
  path: '/auth/methods/:id',
  summary: 'Remove a sign-in method',
  description:
    'Needs the main profile and a confirmed session. Removing the authenticator app removes the recovery codes too unless a passkey remains. It is 409 `last-method` when no way to sign in would be left, and 409 `two-factor-required` when the role requires a second factor. The account is notified.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ params }, call) {
    requireConfirmedMain(call.who, call.now);
    const kind = await removeMethod(call, params.id);
    await audit(call, 'sign-in-method-removed', { kind });
    await notifyMethodChanged(call, kind);
  },
});
