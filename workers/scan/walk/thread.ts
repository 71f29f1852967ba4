/** The walking thread: answers each `next` with a batch, so that it is never ahead by more than one. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WalkOrder } from './types.ts';
import { Walk } from './walk.ts';

let walk: Walk | undefined;

parentPort?.on('message', () => {
  try {
    walk ??= new Walk(workerData as WalkOrder);
    parentPort?.postMessage({ batch: walk.next() });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    parentPort?.postMessage({ failed: code });
  }
});
