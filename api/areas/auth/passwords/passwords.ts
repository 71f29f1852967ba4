import { hash, type Options, verify } from '@node-rs/argon2';
import { ApiError } from '#kernel/errors.ts';
import type { Config } from '#platform/config.ts';

// argon2id is the package's default algorithm.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;
let cost = COST;

/** Sets the cost of hashes from the configuration; called once by each process that hashes passwords. */
export function takePasswordCost({ memoryKib, passes }: Config['passwordCost']): void {
  cost = { ...COST, memoryCost: memoryKib, timeCost: passes };
  dummy = undefined;
}

const AT_ONCE = 4;
const MAY_WAIT = 50;

let running = 0;
const waiting: (() => void)[] = [];

/** Limits hashing to 4 at a time and 50 in the queue; 503 capacity beyond. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MAY_WAIT) {
      throw new ApiError('SERVICE_STARTING', 'Too many sign-ins at once', { waitingFor: 'capacity' });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFC'), cost));
}

/** Hash of a secret that is looked up by its hash: the same salt and cost give the same hash. */
export function hashSalted(secret: string, salt: Buffer): Promise<string> {
  return inTurn(() => hash(secret, { ...COST, salt }));
}

const PARAMETERS = /^\$argon2id\$v=\d+\$m=(\d+),t=(\d+),p=\d+\$/;

/** Whether a hash has a lower cost than configured; it is replaced at the next sign-in with the password. */
export function isOutdated(stored: string): boolean {
  const [, memory = 0, passes = 0] = PARAMETERS.exec(stored) ?? [];
  return Number(memory) < cost.memoryCost || Number(passes) < cost.timeCost;
}

let dummy: Promise<string> | undefined;

/** Takes the same time without a stored hash, so that an unknown name cannot be distinguished from a wrong password. */
export async function passwordMatches(stored: string | null, password: string): Promise<boolean> {
  dummy ??= hashPassword('placeholder of no account');
  const against = stored ?? (await dummy);
  const same = await inTurn(() => verify(against, password.normalize('NFC')));
  return same && stored !== null;
}
