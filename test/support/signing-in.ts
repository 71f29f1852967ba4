import { Secret, TOTP } from 'otpauth';
import { insertAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import type { Role } from '#identity/permissions.ts';
import { type Answered, type Api, clientFor, type TestClient } from '#support/api.ts';

export const PASSWORD = 'correct horse battery';
export const device = { 'x-client-id': 'test-client-0000-1', 'x-client-name': 'Test' };

export interface Somebody {
  id: string;
  username: string;
  /** Signed in on `device`, confirmed. */
  me: TestClient;
  accessToken: string;
  refreshToken: string;
}

export const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;
export const issueOf = (answer: { body: unknown }): string | undefined =>
  (errorOf(answer).details.issues as { code: string }[] | undefined)?.[0]?.code;

let names = 0;

/** An account with the password, signed in. */
export async function somebody(api: Api, role: Role = 'member'): Promise<Somebody> {
  names += 1;
  const username = `${role} ${names}`;
  const { id } = await insertAccount(api.deps.db, { username, role, passwordHash: await hashPassword(PASSWORD) });
  const answer = await signIn(api, username);
  const { accessToken = '', refreshToken = '' } = answer.body;
  return { id, username, me: withToken(api, accessToken), accessToken, refreshToken };
}

export const signIn = (api: Api, username: string, more: object = {}) =>
  api.anyone.login({ body: { username, password: PASSWORD, ...more }, headers: device });

export const withToken = (api: Api, token: string | undefined): TestClient =>
  clientFor(api.url, { ...device, authorization: `Bearer ${token}` });

/** The session of `someone` proved nothing lately. */
export async function unconfirm(api: Api, accountId: string): Promise<void> {
  await api.deps.db('sessions').where({ account_id: accountId }).update({ confirmed_until: null });
}

/** The code that an authenticator app shows now, or some steps of 30 seconds from now. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Switches two-factor on; the code of the step before now is used up by it. */
export async function withTotp(me: TestClient): Promise<{ secret: string; codes: string[] }> {
  const { setupId, secret = '' } = (await me.startTotp()).body;
  const enabled = await me.enableTotp({ body: { setupId, code: codeOf(secret, -1) } });
  return { secret, codes: enabled.body.recoveryCodes ?? [] };
}

export const challengeOf = (answer: Answered): string => String(errorOf(answer).details.challenge);
