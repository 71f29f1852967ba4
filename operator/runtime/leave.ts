import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** A compile job that is under way takes less. */
const COMPILED_MS = 50;

/**
 * Ends this process once V8's compile threads rest: `process.exit` waits for them, and one that wants garbage collected waits for the
 * main thread, which then never does it (nodejs/node 54918: one exit in some hundred of a process that had just started).
 */
export async function endProcess(code: number): Promise<never> {
  for (const flag of ['--no-sparkplug', '--no-maglev', '--no-turbofan']) setFlagsFromString(flag);
  await sleep(COMPILED_MS);
  process.exit(code);
}
