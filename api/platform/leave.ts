import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** A running compile job takes less. */
const COMPILED_MS = 50;

/**
 * Ends this process once V8's compile threads are idle: `process.exit` waits for them, and a thread that requests a
 * garbage collection waits for the main thread, which deadlocks (nodejs/node 54918: about one exit in a hundred of a
 * process that had just started).
 */
export async function endProcess(code: number): Promise<never> {
  for (const flag of ['--no-sparkplug', '--no-maglev', '--no-turbofan']) setFlagsFromString(flag);
  await sleep(COMPILED_MS);
  process.exit(code);
}

/** Ends this process at once, whatever its threads do; its supervisor restarts it. */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('this process is ended');
}
