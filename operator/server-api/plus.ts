// Licensing as the server reports it.
import type { SendRequest } from './server-client.ts';

export interface ObservedPlus {
  /** open, licensed, or why a server with a verifier is not licensed: none, lapsed, invalid. */
  mode: string;
  /** When the licence ends. */
  endsAt?: string;
}

const OPENING = ['open', 'active', 'grace'];

/** Undefined when the server does not report it. Throws Unreachable. */
export async function plusFrom(request: SendRequest): Promise<ObservedPlus | undefined> {
  const { status, body } = await request('GET', '/plus');
  const { mode, state = '', endsAt } = (body ?? {}) as { mode?: string; state?: string; endsAt?: string };
  if (status !== 200 || mode === undefined) return undefined;
  return { mode: OPENING.includes(state) ? mode : state, ...(endsAt !== undefined && { endsAt }) };
}
