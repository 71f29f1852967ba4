// Tokens that agents get for their keys. Redis shares them, sealed, so that pods do not sign in each by itself.
import { type Keys, seal, sha256, unseal } from '../keys.ts';
import type { Redis } from '../redis.ts';
import type { KeyValues } from './agent.ts';

/** Renewed this long before they end. */
const MARGIN_SEC = 60;

export interface TokenPlace {
  redis: Redis;
  ring: Keys;
  agent: string;
  keys: KeyValues;
}

/** Tokens of other keys have another name. */
const nameOf = ({ agent, keys }: TokenPlace): string =>
  `agent:${agent}:token:${sha256(JSON.stringify(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 16)}`;
const placeOf = ({ agent }: TokenPlace): string => `agents|token|${agent}`;

const own = new Map<string, { token: string; until: number }>();

export async function knownToken(place: TokenPlace): Promise<string | undefined> {
  const name = nameOf(place);
  const sealed = await place.redis.get(name).catch(() => undefined);
  if (sealed) return unseal(place.ring, sealed, placeOf(place));
  const mine = sealed === undefined ? own.get(name) : undefined; // no Redis: the one of this process
  return mine && mine.until > Date.now() ? mine.token : undefined;
}

export async function keepToken(place: TokenPlace, token: string, lastsSec: number): Promise<void> {
  const seconds = Math.floor(Math.max(MARGIN_SEC, Math.min(lastsSec, 30 * 86_400)) - MARGIN_SEC / 2);
  const name = nameOf(place);
  own.set(name, { token, until: Date.now() + seconds * 1000 });
  await place.redis.set(name, seal(place.ring, token, placeOf(place)), 'EX', seconds).catch(() => undefined);
}

export async function dropToken(place: TokenPlace): Promise<void> {
  const name = nameOf(place);
  own.delete(name);
  await place.redis.del(name).catch(() => 0);
}
