import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { openSetup, setupCookie, storeTicket } from '#areas/setup/public.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso, Timestamp } from '#kernel/schemas.ts';
import { newSecret } from '#platform/ids.ts';
import { sha256 } from '#platform/keys.ts';
import { countTry, triesOf } from './tries.ts';

const access = { anyone: true, because: 'the claim code proves that the client controls the machine' } as const;

export const SetupClaim = z
  .object({
    required: z.boolean(),
    codeFrom: z.enum(['secret', 'log', 'link', 'none']),
    triesLeft: z.int(),
    blockedUntil: Timestamp.nullable(),
    claimedAt: Timestamp.nullable().describe('Present while a ticket is valid'),
    holder: z.object({ deviceName: z.string().meta({ example: 'Living room' }) }).nullable(),
  })
  .meta({ id: 'SetupClaim' });

export const SetupTicket = z
  .object({
    ticket: z.string().optional().describe('Absent when kept as a cookie'),
    expiresAt: Timestamp,
    url: z.string().meta({ example: 'https://hooks.example/foyer' }),
  })
  .meta({ id: 'SetupTicket' });

/** With `--open-setup` of the local operator, a request over loopback needs no code. */
function isOpen({ deps, client }: Call): boolean {
  return deps.config.openSetup && ['127.0.0.1', '::1'].includes(client.address);
}

export const getSetupClaim = defineEndpoint({
  operationId: 'getSetupClaim',
  method: 'get',
  path: '/setup/claim',
  summary: 'Get where the claim code is',
  description:
    'Returns whether a code is required, where the operator put it and how many attempts are left, and no part of the code. It is 409 `SETUP_ALREADY_COMPLETE` once the server has an owner.',
  access,
  answer: json(200, SetupClaim),
  errors: ['SETUP_ALREADY_COMPLETE'],

  async handle(_input, call) {
    const row = await openSetup(call.db);
    const held = row.ticket_lives;
    const holder = held && row.ticket_device ? { deviceName: row.ticket_device } : null;
    return {
      required: !isOpen(call),
      codeFrom: call.deps.config.claimFrom,
      ...(await triesOf(call)),
      claimedAt: held ? iso(row.claimed_at) : null,
      holder,
    };
  },
});

const ClaimServer = z.strictObject({
  code: z.string().max(100).default('').describe('Blanks, dashes and letter case are ignored'),
  keep: z.enum(['cookie', 'token']).default('token'),
});

export const claimServer = defineEndpoint({
  operationId: 'claimServer',
  method: 'post',
  path: '/setup/claim',
  summary: 'Claim the server with its code',
  description:
    'Returns a setup ticket for one hour, which each use prolongs, in the body or as a cookie by `keep`. Blanks, dashes and letter case in the code are ignored; a wrong code is 401 with `details.triesLeft`, and too many are 429. A new ticket invalidates the former one; the draft stays.',
  access,
  body: ClaimServer,
  answer: json(201, SetupTicket),
  errors: ['SETUP_ALREADY_COMPLETE', 'UNAUTHENTICATED', 'RATE_LIMITED'],

  async handle({ body }, call) {
    const { db, client, reply, log } = call;
    const row = await openSetup(db, { lock: true });
    const triesLeft = await countTry(call);
    if (!isOpen(call) && !codeFits(body.code, row.claim_sha256)) {
      log.warn({ address: client.address }, 'a wrong claim code was tried');
      throw new ApiError('UNAUTHENTICATED', 'The code is wrong', { triesLeft });
    }
    const ticket = newSecret('foyst_');
    const expiresAt = await storeTicket(db, ticket, client.name);
    const answer = { expiresAt: iso(expiresAt), url: '/setup' };
    if (body.keep === 'token') return { ...answer, ticket };
    const flags = `HttpOnly; SameSite=Strict; Path=/api/v1/setup; Max-Age=3600${client.secure ? '; Secure' : ''}`;
    reply.header('Set-Cookie', `${setupCookie(client.secure)}=${ticket}; ${flags}`);
    return answer;
  },
});

function codeFits(code: string, stored: string | null): boolean {
  const given = sha256(code.replace(/[\s-]/g, '').toLowerCase());
  return stored !== null && timingSafeEqual(Buffer.from(given), Buffer.from(stored));
}
