import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 200;
/**
 * The most of the time that one turn may take of it: a machine that stood still meanwhile has given no process a
 * chance.
 */
const TURN_MAX_MS = 10_000;

/**
 * Polls until the answer is neither undefined, null nor false, and returns it; a throw counts as no answer. Throws the
 * name of the missing state after the time.
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<T, undefined | null | false>> {
  let left = withinMs;
  let fault = '';
  do {
    const began = Date.now();
    try {
      const answer = await check();
      if (answer !== undefined && answer !== null && answer !== false)
        return answer as Exclude<T, undefined | null | false>;
    } catch (error) {
      fault = `: ${(error as Error).message}`;
    }
    await sleep(EVERY_MS);
    left -= Math.min(Date.now() - began, TURN_MAX_MS);
  } while (left > 0);
  throw new Error(`not in ${withinMs / 1000} s: ${what}${fault}`);
}

/** Without a name for the missing state: the stack shows the place. */
export const eventually = (holds: () => boolean | Promise<boolean>, withinMs?: number): Promise<true> =>
  until('what the test waits for', holds, withinMs);

/** A measure that a busy machine may spoil is taken again, up to so many times: the first that is good enough, or the least. */
export async function least(times: number, enough: number, measure: () => Promise<number>): Promise<number> {
  let found = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < times && found > enough; turn++) found = Math.min(found, await measure());
  return found;
}
