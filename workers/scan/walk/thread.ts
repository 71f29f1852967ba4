/** The walking thread: answers each message with a batch, so that it is never ahead by more than one. */
import { parentPort } from 'node:worker_threads';
import type { WalkOrder } from './types.ts';
import { Walk } from './walk.ts';

let walk: Walk | undefined;

parentPort?.on('message', (message: { begin: WalkOrder } | 'next') => {
  try {
    if (message !== 'next') walk = new Walk(message.begin);
    const batch = walk?.next();
    if (batch?.done) walk = undefined; // the order may hold much
    parentPort?.postMessage({ batch });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    parentPort?.postMessage({ failed: code });
  }
});
