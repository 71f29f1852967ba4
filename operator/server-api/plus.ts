// Licensing as the server itself judges it.
import type { Ask } from './server-client.ts';

export interface ObservedPlus {
  /** open, licensed, or why a server with a verifier has nothing open: none, lapsed, invalid. */
  mode: string;
  /** When the licence ends. */
  endsAt?: string;
}

const OPENING = ['open', 'active', 'grace'];

/** Undefined where the server does not tell. Throws Unreachable. */
export async function plusFrom(ask: Ask): Promise<ObservedPlus | undefined> {
  const { status, body } = await ask('GET', '/plus');
  const { mode, state = '', endsAt } = (body ?? {}) as { mode?: string; state?: string; endsAt?: string };
  if (status !== 200 || mode === undefined) return undefined;
  return { mode: OPENING.includes(state) ? mode : state, ...(endsAt !== undefined && { endsAt }) };
}
