/** The walking thread: answers each message with a batch, so it is never more than one batch ahead. */
import { parentPort } from 'node:worker_threads';
import type { WalkOrder } from './types.ts';
import { Walk } from './walk.ts';

let walk: Walk | undefined;

parentPort?.on('message', (message: { begin: WalkOrder } | 'next') => {
  try {
    if (message !== 'next') walk = new Walk(message.begin);
    const batch = walk?.next();
    if (batch?.done) walk = undefined; // the order may use much memory
    parentPort?.postMessage({ batch });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    parentPort?.postMessage({ failed: code });
  }
});
