import type { z } from 'zod';
import { requireMain } from '#identity/person.ts';
import type { Principal } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { breaks, existing } from '#platform/db.ts';
import { countAccountAttempt, countAttempt, countFlow } from '../attempts.ts';
import type { SignIn } from '../auth.schemas.ts';
import { markConfirmed } from '../methods/confirm.ts';
import type { SignInMethod } from '../methods/methods.schemas.ts';
import { toMethod } from '../methods/methods.store.ts';
import { notifyMethodChanged } from '../notify.ts';
import { requireSecondFactor } from '../second-factor/second-factor.ts';
import type { OidcSession } from '../sign-in/sessions.store.ts';
import { startSession } from '../sign-in/sign-in.ts';
import type { Claims, CompletedOidc, CompleteOidc } from './oidc.schemas.ts';
import { accountFor, applyRole, type Identity, insertIdentity, linkedAccount } from './oidc-accounts.ts';
import { readClaims } from './oidc-claims.ts';
import { type Flow, isFlowOpen, takeFlow } from './oidc-flows.store.ts';
import { providerOf } from './oidc-provider.ts';
import { signedIn } from './oidc-start.ts';

interface Proved {
  flow: Flow;
  identity: Identity;
  /** The provider verified a second factor, and the settings trust it. */
  twoFactor: boolean;
}

/** Completes the flow of startOidc with the response of the provider. It uses the state up in any case. */
export async function finish(call: Call, body: z.output<typeof CompleteOidc>): Promise<z.input<typeof CompletedOidc>> {
  const { db, deps, client } = call;
  const key = { state: body.state, binding: body.binding, clientId: client.id };
  if (await isFlowOpen(db, key)) await countFlow(call, 'oidc', key.state);
  else await countAttempt(call, 'oidc-complete');
  const provider = await providerOf(deps);
  const flow = await takeFlow(db, deps.keys, key);
  if (!flow || flow.issuer !== provider.issuer) throw over();
  const who = flow.intent === 'sign-in' ? undefined : await samePerson(call, flow);
  const { code, state, iss } = body;
  const claims = await readClaims(deps, provider, { flow, answer: { code, state, iss } });
  const identity = { issuer: provider.issuer, claims };
  const proved = { flow, identity, twoFactor: provesSecondFactor(call, claims) };
  const back = flow.return_to === null ? {} : { returnTo: flow.return_to };
  if (!who) return { signIn: await signIn(call, proved), ...back };
  const asThem = { ...call, who };
  if (flow.intent === 'link') return { linked: await link(asThem, identity), ...back };
  return { ...(await confirm(asThem, proved)), ...back };
}

function over(): ApiError {
  return new ApiError('AUTH_TOKEN_INVALID', 'This sign-in has ended or was started by another client', {});
}

/** Only the session that started the flow may link or confirm. */
async function samePerson(call: Call, flow: Flow): Promise<Principal> {
  const who = await signedIn(call);
  if (who.sessionId !== flow.session_id) throw over();
  if (flow.intent === 'link') requireMain(who);
  return who;
}

function provesSecondFactor({ deps }: Call, claims: Claims): boolean {
  return deps.settings.get('auth.oidc.trustsSecondFactor') && (claims.amr ?? []).includes('mfa');
}

async function signIn(call: Call, { flow, identity, twoFactor }: Proved): Promise<z.input<typeof SignIn>> {
  const { claims, issuer } = identity;
  const account = await call
    .transact((inside) => known(inside, identity))
    .catch(async (error: unknown) => {
      if (error instanceof ApiError) await audit(call, 'sign-in-failed', { method: 'oidc', ...error.details });
      throw error;
    });
  await countAccountAttempt(call, 'oidc', account);
  const oidc: OidcSession = { issuer, subject: claims.sub, ...(claims.sid && { sid: claims.sid }) };
  const secondFactor = twoFactor
    ? undefined
    : await requireSecondFactor(call, { accountId: account, method: 'oidc', oidc });
  if (secondFactor) throw secondFactor;
  const { keep, remember } = flow;
  return call.transact((inside) =>
    startSession(inside, { accountId: account, method: 'oidc', twoFactor, keep, remember, oidc }),
  );
}

/** The account of the identity, with the role from the groups of the provider. */
async function known(call: Call, identity: Identity): Promise<string> {
  const account = await accountFor(call, identity);
  if (account.unusable) throw new ApiError('FORBIDDEN', 'This account is disabled', { by: 'account-disabled' });
  await applyRole(call, account, identity.claims);
  await used(call, identity);
  return account.id;
}

async function used({ db }: Call, { issuer, claims }: Identity): Promise<void> {
  await db('sign_in_methods').where({ issuer, subject: claims.sub }).update({ last_used_at: db.fn.now() });
}

async function link(call: Call, identity: Identity): Promise<SignInMethod> {
  return call
    .transact(async (transacted) => {
      const inside = { ...transacted, who: call.who };
      const { db, who } = inside;
      const has = await linkedAccount(db, identity);
      if (has && has.id !== who.accountId) throw taken();
      if (!has) {
        await insertIdentity(inside, who.accountId, identity);
        await notifyMethodChanged(inside, 'oidc');
      }
      const row = existing(
        await db('sign_in_methods').where({ issuer: identity.issuer, subject: identity.claims.sub }).first(),
      );
      return toMethod(row, 0);
    })
    .catch((error: unknown) => {
      throw breaks(error, 'sign_in_methods_issuer_subject_key') ? taken() : error;
    });
}

const taken = (): ApiError => conflict('identity-taken', 'Another account has this identity');

/** Confirms the session by an identity of the same account; requires a second factor like a sign-in. */
async function confirm(call: Call, { identity, twoFactor }: Proved): Promise<{ confirmedUntil: string }> {
  const { db, who } = call;
  const account = await linkedAccount(db, identity);
  if (account?.id !== who.accountId)
    throw new ApiError('UNAUTHENTICATED', 'This identity belongs to another account', {});
  const { sessionId } = who;
  const secondFactor = twoFactor
    ? undefined
    : await requireSecondFactor(call, { accountId: who.accountId, sessionId, method: 'oidc' });
  if (secondFactor) throw secondFactor;
  await used(call, identity);
  return markConfirmed(call);
}
