import { randomBytes } from 'node:crypto';
import { FoyerError } from '../../api/client/index.ts';

export const PASSWORD = 'a good long one';

let made = 0;

/** A name that nothing else has. */
export function fresh(word: string): string {
  made += 1;
  return `${word}-${made}-${randomBytes(4).toString('hex')}`;
}

/** An address of its own behind the trusted proxy, so that no test uses up another's attempts. */
export function fromElsewhere(): Record<string, string> {
  made += 1;
  return { 'x-forwarded-for': `203.0.${113 + (made >> 8)}.${made & 255}` };
}

/** `ok`, the code of the refusal, or another fault. */
export function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'ok',
    (error: unknown) => (error instanceof FoyerError ? error.code : String(error)),
  );
}
