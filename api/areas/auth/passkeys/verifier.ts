// Verifies answers of authenticators in a thread of its own, because the library takes half a second of CPU to load.
import { Worker } from 'node:worker_threads';
import type { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

const LIMIT_MS = 10_000;
/** An unused thread ends after this time and gives its memory back. */
const IDLE_MS = 10 * 60_000;
const MEMORY_MB = 128;

/** The functions of the library that run there. */
export interface Checks {
  verifyRegistrationResponse: typeof verifyRegistrationResponse;
  verifyAuthenticationResponse: typeof verifyAuthenticationResponse;
}
export type CheckName = keyof Checks;

/** A check for the thread. */
export interface CheckRequest {
  id: number;
  name: CheckName;
  options: object;
}
/** Its result, or the message of the library for an answer that it refuses. */
export type CheckReply = { id: number } & ({ result: unknown } | { refused: string });

/** The library refused an answer; the message names the failed check. */
export class PasskeyRefused extends Error {}

interface Running {
  thread: Worker;
  waiting: Map<number, PromiseWithResolvers<unknown>>;
}

let running: Running | undefined;
let last = 0;
let idle: NodeJS.Timeout | undefined;

/** Starts the thread while a person is at their authenticator, so that their answer does not wait for it. */
export function prepareVerifier(): void {
  thread();
}

/** Runs a check of the library. Throws `PasskeyRefused`. */
export async function checkPasskey<N extends CheckName>(
  name: N,
  options: Parameters<Checks[N]>[0],
): Promise<Awaited<ReturnType<Checks[N]>>> {
  const { thread: worker, waiting } = thread();
  last += 1;
  const [id, answer] = [last, Promise.withResolvers<unknown>()];
  waiting.set(id, answer);
  const late = setTimeout(() => void worker.terminate(), LIMIT_MS);
  worker.postMessage({ id, name, options } satisfies CheckRequest);
  try {
    return (await answer.promise) as Awaited<ReturnType<Checks[N]>>;
  } finally {
    clearTimeout(late);
    waiting.delete(id);
  }
}

function thread(): Running {
  const current = running ?? start();
  clearTimeout(idle);
  idle = setTimeout(() => void current.thread.terminate(), IDLE_MS);
  idle.unref();
  return current;
}

function start(): Running {
  const worker = new Worker(new URL('./verifier-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const made: Running = { thread: worker, waiting: new Map() };
  worker.unref();
  worker.on('message', (reply: CheckReply) => {
    const waiter = made.waiting.get(reply.id);
    if ('refused' in reply) waiter?.reject(new PasskeyRefused(reply.refused));
    else waiter?.resolve(reply.result);
  });
  const end = (error: Error): void => {
    if (running === made) running = undefined;
    for (const waiter of made.waiting.values()) waiter.reject(error);
  };
  worker.once('error', end);
  worker.once('exit', () => end(new Error('the thread that verifies passkeys ended')));
  running = made;
  return made;
}
