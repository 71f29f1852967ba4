import { type ChildProcess, fork } from 'node:child_process';
import { endProcess } from '#platform/leave.ts';
import type { Log } from '#platform/log.ts';

const MARK = 'FOYER_TUNER_RESTARTS';
/** A process that ends sooner than this is started again after a pause of the same length. */
const QUICK_MS = 1000;

/** Whether this process was started by its supervisor. */
export const isChild = (): boolean => process.env[MARK] !== undefined;

/** How often the supervisor has started the process again. */
export const restartsOf = (): number => Number(process.env[MARK] ?? 0);

/**
 * The first process of the pod: starts the tuner as its child, again at once whenever it ends, and passes signals on.
 * The kubelet would wait longer, and a stream has a gap meanwhile.
 */
export function supervise(log: Log): void {
  let restarts = 0;
  let leaving = false;
  let child: ChildProcess;
  const start = (): void => {
    if (leaving) return void endProcess(0);
    const startedAt = performance.now();
    child = fork(process.argv[1] ?? '', { env: { ...process.env, [MARK]: String(restarts) } });
    child.once('exit', (code, signal) => {
      if (leaving) return void endProcess(code ?? 0);
      log.warn({ code, signal }, 'the tuner ended and is started again');
      restarts += 1;
      setTimeout(start, performance.now() - startedAt < QUICK_MS ? QUICK_MS : 0);
    });
  };
  const leave = (signal: NodeJS.Signals): void => {
    leaving = true;
    child.kill(signal);
  };
  process.once('SIGTERM', leave);
  process.once('SIGINT', leave);
  start();
}

/** Ends with the supervisor: nothing would start this process again. */
export function endWithSupervisor(leave: () => void): void {
  if (process.connected) process.once('disconnect', leave);
}
