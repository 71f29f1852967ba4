// CPU time of processes, which other work of the machine does not change.
import { readFileSync } from 'node:fs';

/** The time of the event loop of a process so far, ms. Compiler and collector threads are not in it. */
export function eventLoopMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

export interface Watched {
  pid: number;
  url: string;
}

/**
 * The CPU time of the process while a probe of its liveness waited, ms: the most of all probes sent one behind another
 * while `work` ran.
 */
export async function longestProbeMs({ pid, url }: Watched, work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  let over = false;
  const working = work().finally(() => {
    over = true;
  });
  do {
    const before = eventLoopMs(pid);
    const response = await fetch(`${url}/api/v1/server/live`);
    await response.arrayBuffer();
    most = Math.max(most, eventLoopMs(pid) - before);
  } while (!over);
  await working;
  return most;
}
