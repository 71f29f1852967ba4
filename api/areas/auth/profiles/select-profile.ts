import { updateProfile } from '#areas/accounts/public.ts';
import { ACCESS_SECONDS, presented, sessionCookie } from '#identity/credentials.ts';
import { updateDeviceRow } from '#identity/devices.ts';
import { sessionOf } from '#identity/person.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { countAccountAttempt } from '../attempts.ts';
import type { SignIn } from '../auth.schemas.ts';
import { checkPin } from '../passwords/pins.ts';
import { latestRefreshExpiry } from '../sign-in/refresh-tokens.store.ts';
import { cookieFlags, freshToken } from '../sign-in/sign-in.ts';
import type { ProfileRow } from './profiles.store.ts';

/** Switches the session to the profile. Its refresh token stays; access tokens of the former profile become invalid. */
export async function enterProfile(call: Call, id: string, pin: string | undefined): Promise<SignIn> {
  const { db, who } = call;
  const row = await db('profiles').where({ id, account_id: who.accountId }).first('id', 'main', 'pin_hash');
  if (!row) throw notFound();
  await refuseWithoutPin(call, row, pin);
  return call.transact(async (inside) => {
    await moveSession(inside, row);
    return answerInProfile(inside);
  });
}

async function refuseWithoutPin(
  call: Call,
  row: Pick<ProfileRow, 'id' | 'main' | 'pin_hash'>,
  pin: string | undefined,
): Promise<void> {
  const { who, now } = call;
  const confirmed = who.confirmedUntil !== undefined && who.confirmedUntil > now;
  if (row.pin_hash === null || confirmed || row.id === who.profileId) return;
  if (pin === undefined) throw new ApiError('FORBIDDEN', 'This profile has a PIN', { by: 'pin' });
  await countAccountAttempt(call, 'pin', who.accountId);
  await checkPin(call, row, pin);
}

async function moveSession({ db, who }: Call, row: Pick<ProfileRow, 'id' | 'main' | 'pin_hash'>): Promise<void> {
  const moved = await db('sessions')
    .where({ id: sessionOf(who) })
    // A person who gets the device in another profile has not confirmed anything.
    .update({ profile_id: row.id, ...(row.main ? {} : { confirmed_until: null }) });
  if (moved !== 1) throw new ApiError('AUTH_TOKEN_INVALID', 'The sign-in has ended', {});
  await updateProfile(db, { id: row.id }, { last_used_at: db.fn.now() });
  if (who.deviceId) await updateDeviceRow(db, { id: who.deviceId }, { last_profile_id: row.id });
}

async function answerInProfile(call: Call): Promise<SignIn> {
  const { db, who, now, client, headers } = call;
  const sessionId = sessionOf(who);
  const { described, accessToken, cookie, remember } = await freshToken(call, sessionId);
  if (cookie) {
    const name = sessionCookie(client.secure);
    call.reply.header('Set-Cookie', [`${name}=${accessToken}; Path=/; ${cookieFlags(client.secure, remember)}`]);
  }
  const credential = presented(headers, client.secure);
  const byCookie = credential?.kind === 'token' && credential.cookie;
  return {
    ...described,
    ...(byCookie ? {} : { accessToken }),
    expiresInSec: ACCESS_SECONDS,
    refreshExpiresAt: iso(await latestRefreshExpiry(db, sessionId, now)),
  };
}
