import type { z } from 'zod';
import { brandingOf } from '#areas/branding/public.ts';
import { mailReady } from '#areas/email/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { imageRefSql } from '#kernel/images.ts';
import type { ImageRef } from '#kernel/schemas.ts';
import type { SignInOptions } from '../passkeys/passkeys.schemas.ts';
import { relyingParty, signInOptions } from '../passkeys/passkeys.ts';

type Options = z.input<typeof SignInOptions>;

/** Before setup is complete there is no account to sign in with, so the settings do not count. */
const nothingYet: Omit<Options, 'passwordRules' | 'serverTime'> = {
  password: false,
  passkeys: false,
  quickConnect: false,
  passwordReset: 'admin',
  invites: false,
  tiles: [],
};

export async function readOptions(call: Call): Promise<Options> {
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
    passwordReset: mailReady(deps) ? 'mail' : 'admin', // without a mail server an admin creates the link
    invites: true,
    tiles: settings.get('auth.accountTiles') ? await tiles(call) : [],
    ...(await messageOf(call)),
    ...always,
  };
}

/** The configured OpenID provider, with the name that the owner gave it. */
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
async function tiles({ db }: Call): Promise<Options['tiles']> {
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
