import { createHash } from 'node:crypto';
import { type Api, startApi } from '#support/api.ts';

export const CLAIM = '7gdmdrmw2b1wsvpb7r5pdhsq2k';
export const OWNER = { username: 'ana', password: 'a good long one' };

/** A server at its first run; its claim code is CLAIM. */
export const unclaimedServer = (environment: Record<string, string> = {}): Promise<Api> =>
  startApi({ FOYER_CLAIM_SHA256: createHash('sha256').update(CLAIM).digest('hex'), ...environment });

/** A server with the owner OWNER, made as the setup page does it. */
export async function ownedServer(environment: Record<string, string> = {}): Promise<Api> {
  const api = await unclaimedServer(environment);
  const { body } = await api.anyone.claimServer({ body: { code: CLAIM } });
  const headers = { authorization: `Bearer ${body.ticket}` };
  const { status } = await api.anyone.completeSetup({ headers, body: OWNER });
  if (status !== 201) throw new Error(`the setup was answered with ${status}`);
  return api;
}
