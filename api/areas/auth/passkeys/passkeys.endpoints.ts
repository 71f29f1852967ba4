import type { z } from 'zod';
import { brandingOf } from '#areas/branding/public.ts';
import { mailReady } from '#areas/email/public.ts';
import { requireConfirmedMain, requireMain } from '#identity/person.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { imageRefSql } from '#kernel/images.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import type { ImageRef } from '#kernel/schemas.ts';
import { NewMethod } from '../methods/methods.schemas.ts';
import { addPasskeyTo } from './add-passkey.ts';
import { AddPasskey, CreationOptions, SignInOptions } from './passkeys.schemas.ts';
import { registrationOptions, relyingParty, signInOptions } from './passkeys.ts';

export const startPasskeyRegistration = defineEndpoint({
  operationId: 'startPasskeyRegistration',
  method: 'post',
  path: '/auth/passkeys/options',
  summary: 'What the browser needs to make a passkey',
  access: { person: true },
  anyHour: true,
  answer: json(200, CreationOptions),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle(_input, call) {
    requireConfirmedMain(call.who, call.now);
    return { ...(await registrationOptions(call)) };
  },
});

export const addPasskey = defineEndpoint({
  operationId: 'addPasskey',
  method: 'post',
  path: '/auth/passkeys',
  summary: 'Keep the passkey that was made',
  access: { person: true },
  anyHour: true,
  body: AddPasskey,
  answer: json(201, NewMethod),
  unrepeated: ['recoveryCodes'],
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ body }, call) {
    requireMain(call.who);
    return addPasskeyTo(call, body.credential, body.name);
  },
});

const A_MINUTE = 60;

export const getSignInOptions = defineEndpoint({
  operationId: 'getSignInOptions',
  method: 'get',
  path: '/auth/options',
  summary: 'What a sign-in page needs',
  access: { anyone: true, because: 'who signs in is not signed in yet' },
  answer: json(200, SignInOptions),
  errors: ['RATE_LIMITED'],

  async handle(_input, call) {
    const { deps, client } = call;
    const limiter = { redis: deps.redis, replicas: deps.config.replicas };
    await limitAttempts(limiter, `sign-in-options:${addressGroup(client.address)}`, A_MINUTE);
    return readOptions(call);
  },
});

type Options = z.input<typeof SignInOptions>;

/** Before setup is complete nobody signs in, whatever is set. */
const nothingYet: Omit<Options, 'passwordRules' | 'serverTime'> = {
  password: false,
  passkeys: false,
  quickConnect: false,
  passwordReset: 'admin',
  invites: false,
  tiles: [],
};

async function readOptions(call: Call): Promise<Options> {
  const { db, deps, now } = call;
  const { settings } = deps;
  const state = await db('server_state').first('setup_completed_at');
  const passwordRules = { minLength: settings.get('auth.password.minLength'), maxLength: 256 };
  const always = { passwordRules, serverTime: now.toISOString() };
  if (!state?.setup_completed_at) return { ...nothingYet, ...always };
  const passkeys = settings.get('auth.passkeys.enabled') && relyingParty(call).usable;
  return {
    password: settings.get('auth.password.enabled'),
    passkeys,
    ...(passkeys && { passkey: { ...(await signInOptions(call)) } }),
    ...oidcOption(call),
    quickConnect: settings.get('auth.quickConnect.enabled'),
    passwordReset: mailReady(deps) ? 'mail' : 'admin', // without a mail server an admin's link
    invites: true,
    tiles: settings.get('auth.accountTiles') ? await tiles(call) : [],
    ...(await messageOf(call)),
    ...always,
  };
}

/** The provider to offer, by the owner's name for it. */
function oidcOption({ deps }: Call): Pick<Options, 'oidc'> {
  const { settings } = deps;
  const issuer = settings.get('auth.oidc.issuer');
  if (!issuer || !settings.get('auth.oidc.clientId')) return {};
  return {
    oidc: {
      name: settings.get('auth.oidc.name') ?? new URL(issuer).hostname,
      automatic: settings.get('auth.oidc.automatic'),
    },
  };
}

async function messageOf({ deps }: Call): Promise<{ message?: string }> {
  const { signInMessage } = await brandingOf(deps);
  return signInMessage === undefined ? {} : { message: signInMessage };
}

const MOST_TILES = 50;

/** Accounts that chose to be listed. */
async function tiles({ db }: Call): Promise<z.input<typeof SignInOptions>['tiles']> {
  const rows = await db('accounts')
    .where({ listed: true, disabled: false, is_system: false })
    .whereRaw('deleted_at is null and coalesce(expires_at > now(), true)')
    .orderBy(['display_name', 'id'])
    .limit(MOST_TILES)
    .select<{ username: string; display_name: string; avatar: ImageRef | null }[]>(
      'username',
      'display_name',
      db.raw(`${imageRefSql('accounts.avatar_id')} as avatar`),
    );
  return rows.map(({ username, display_name: displayName, avatar }) => ({
    username,
    displayName,
    ...(avatar && { avatar }),
  }));
}
