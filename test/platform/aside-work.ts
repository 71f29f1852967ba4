// The work of the threads of aside.test.ts.
import { threadId } from 'node:worker_threads';

export const sum = (numbers: readonly number[]): object => ({
  sum: numbers.reduce((all, one) => all + one, 0),
  thread: threadId,
});

export function endless(): never {
  for (;;) Math.random();
}

export function failing(): never {
  throw new Error('this was to be');
}

export function leaving(): never {
  return process.exit(0);
}
