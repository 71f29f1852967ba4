import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 200;

/** Asks until the answer is neither undefined, null nor false, and returns it; a throw counts as no answer. Throws what was missing after the time. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<T, undefined | null | false>> {
  const end = Date.now() + withinMs;
  let fault = '';
  do {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false)
        return answer as Exclude<T, undefined | null | false>;
    } catch (error) {
      fault = `: ${(error as Error).message}`;
    }
    await sleep(EVERY_MS);
  } while (Date.now() < end);
  throw new Error(`not in ${withinMs / 1000} s: ${what}${fault}`);
}
