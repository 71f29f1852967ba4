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
  summary: 'Prove that it is me, for what needs it in the next ten minutes',
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
  summary: 'Set a new password for my account',
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
  summary: 'With what I can sign in',
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
  summary: 'Take a way to sign in away',
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
