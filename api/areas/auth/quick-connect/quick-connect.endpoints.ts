import { renderSVG } from 'uqr';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup, inRanges } from '#kernel/request.ts';
import { countAccountAttempt, countAttempt } from '../attempts.ts';
import type { SignIn } from '../auth.schemas.ts';
import { startSession } from '../sign-in/sign-in.ts';
import { answerQuickConnectRow } from './answer-quick-connect.ts';
import {
  AnswerQuickConnect,
  CodeParams,
  POLL_MS,
  QuickConnect,
  QuickConnectView,
  RedeemedQuickConnect,
  RedeemQuickConnect,
  StartedQuickConnect,
  StartQuickConnect,
} from './quick-connect.schemas.ts';
import {
  findQuickConnect,
  insertQuickConnect,
  pollQuickConnect,
  type QuickConnectRow,
  takeQuickConnect,
  toQuickConnect,
} from './quick-connect.store.ts';

export const startQuickConnect = defineEndpoint({
  operationId: 'startQuickConnect',
  method: 'post',
  path: '/auth/quick-connect',
  summary: 'Start a sign-in that another device approves',
  description:
    'Needs `X-Client-Id`. Show `code` or the QR picture to the person, keep `secret`, and poll `redeemQuickConnect` every `pollMs`. A request expires after ten minutes. It is 409 `quick-connect-off` when the setting is off and 429 with three pending requests from one address.',
  access: { anyone: true, because: 'a device that starts a sign-in has no credential yet' },
  body: StartQuickConnect,
  optionalBody: true,
  answer: json(201, StartedQuickConnect),
  errors: ['CONFLICT', 'RATE_LIMITED'],
  counts: (call) => countAttempt(call, 'quick-connect'),

  async handle({ body }, call) {
    const { db, client, deps } = call;
    if (!client.id) throw invalid(['headers', 'x-client-id'], 'required', 'X-Client-Id is needed');
    if (!deps.settings.get('auth.quickConnect.enabled'))
      throw conflict('quick-connect-off', 'Quick connect is turned off');
    const { row, secret } = await insertQuickConnect(db, {
      clientId: client.id,
      deviceName: body.deviceName ?? client.name ?? 'Unknown device',
      clientName: client.name,
      address: client.address,
    });
    const url = `${ownAddress(call)}/quick-connect?code=${row.code}`;
    return { quickConnect: toQuickConnect(row), secret, pollMs: POLL_MS, url, qrSvg: renderSVG(url) };
  },
});

export const redeemQuickConnect = defineEndpoint({
  operationId: 'redeemQuickConnect',
  method: 'post',
  path: '/auth/quick-connect/token',
  summary: 'Poll a quick connect and sign in',
  description:
    'Returns the state and, once the other device has approved, a sign-in, one time and within five minutes. It works only with the `X-Client-Id` that started it. Polls faster than one a second are 429. Unknown, redeemed and expired secrets are 404.',
  access: { anyone: true, because: 'the secret of the device that started is the credential' },
  body: RedeemQuickConnect,
  answer: json(200, RedeemedQuickConnect),
  errors: ['NOT_FOUND', 'FORBIDDEN', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    const row = await pollQuickConnect(call.db, body.secret, call.client.id);
    if (!row) throw await unknownSecret(call);
    if (row.early) throw new ApiError('RATE_LIMITED', 'Poll less often', { retryAfterSec: 1 });
    if (row.state !== 'approved') return { state: row.state, pollMs: POLL_MS };
    const signIn = await call.transact((inside) => redeem(inside, row, body));
    return { state: row.state, signIn, pollMs: POLL_MS };
  },
});

/** Unknown secrets count as attempts; polls with a valid one do not. */
async function unknownSecret(call: Call): Promise<ApiError> {
  await countAttempt(call, 'quick-connect-secret');
  return notFound();
}

/** Of concurrent requests exactly one signs in. */
async function redeem(
  call: Call,
  row: QuickConnectRow,
  kept: { keep: 'both' | 'cookie' | 'token'; remember: boolean },
): Promise<SignIn> {
  const accountId = await takeQuickConnect(call.db, row);
  if (accountId === undefined) throw notFound();
  return startSession(call, {
    accountId,
    method: 'quick-connect',
    profileId: row.profile_id ?? undefined,
    profileApproved: true,
    confirmed: false,
    keep: kept.keep,
    remember: kept.remember,
  });
}

const TEN_MINUTES_MS = 600_000;
const CODES = 10;

export const getQuickConnect = defineEndpoint({
  operationId: 'getQuickConnect',
  method: 'get',
  path: '/auth/quick-connect/:code',
  summary: 'Get a quick connect by its code',
  description:
    'Shows the device that requests a sign-in, and whether it is in the same network, for the person to compare before approving. Wrong and expired codes are 404. An account can look up ten codes in ten minutes (429).',
  access: { person: true },
  anyHour: true,
  params: CodeParams,
  answer: json(200, QuickConnectView),
  errors: ['NOT_FOUND', 'RATE_LIMITED'],

  async handle({ params }, { db, who, client, deps }) {
    const limiter = { redis: deps.redis, replicas: deps.config.replicas, windowMs: TEN_MINUTES_MS };
    await limitAttempts(limiter, `quick-connect-codes:${who.accountId}`, CODES);
    const row = await findQuickConnect(db, params.code);
    if (!row) throw notFound();
    const bothLocal = client.local && inRanges(row.address, deps.settings.get('network.localRanges'));
    const sameNetwork = bothLocal || addressGroup(row.address) === addressGroup(client.address);
    return { ...toQuickConnect(row), sameNetwork };
  },
});

export const answerQuickConnect = defineEndpoint({
  operationId: 'answerQuickConnect',
  method: 'put',
  path: '/auth/quick-connect/:code',
  summary: 'Approve or deny a quick connect',
  description:
    'Approval signs the device in as the account and profile of the caller; with `user:manage`, `userId` names a child or guest account instead. A profile other than main approves only for itself. Repeating the same decision succeeds; the opposite one is 409 `already-decided`.',
  access: { person: true },
  anyHour: true,
  params: CodeParams,
  body: AnswerQuickConnect,
  answer: json(200, QuickConnect),
  errors: ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'RATE_LIMITED'],

  async handle({ params, body }, call) {
    await countAccountAttempt(call, 'quick-connect-answer', call.who.accountId);
    return toQuickConnect(await answerQuickConnectRow(call, params.code, body));
  },
});
