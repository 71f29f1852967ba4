// Reads of files that may hang: each holds a thread of the process until its file system answers.
import { close, open, read } from 'node:fs';

/** Threads that the reads of one place may hold, and those of all places: the pool has more (server-environment.ts). */
const MOST_OF_ONE = 12;
const MOST_OF_ALL = 24;
/** Above that a place may hold a few, so that folders of one hanging disk leave some for others. */
const FEW = 4;
const MOST_WITH_FEW = 40;

const running = new Map<string, number>();
const waiting: { place: string; go: () => void }[] = [];
let all = 0;

function isFree(place: string): boolean {
  const own = running.get(place) ?? 0;
  return all < MOST_OF_ALL ? own < MOST_OF_ONE : all < MOST_WITH_FEW && own < FEW;
}

function start({ place, go }: { place: string; go: () => void }): void {
  all += 1;
  running.set(place, (running.get(place) ?? 0) + 1);
  go();
}

function ended(place: string): void {
  all -= 1;
  const left = (running.get(place) ?? 1) - 1;
  if (left > 0) running.set(place, left);
  else running.delete(place);
  const next = waiting.findIndex((one) => isFree(one.place));
  const [one] = next < 0 ? [] : waiting.splice(next, 1);
  if (one) start(one);
}

type Last<A extends unknown[]> = (...results: A) => void;

/** The call of `node:fs` in its turn; its last argument is the callback. */
function inTurn<C>(place: string, call: C): C {
  const wrapped = (...given: unknown[]): void => {
    const done = given.at(-1) as Last<unknown[]>;
    const go = (): void =>
      (call as Last<unknown[]>)(...given.slice(0, -1), (...results: unknown[]) => {
        ended(place);
        done(...results);
      });
    if (isFree(place)) start({ place, go });
    else waiting.push({ place, go });
  };
  return wrapped as C;
}

/** File system calls of a read stream. The reads of one place, such as a library folder, wait for one another when many are pending. */
export function boundedReads(place: string): { open: typeof open; read: typeof read; close: typeof close } {
  return { open: inTurn(place, open), read: inTurn(place, read), close: inTurn(place, close) };
}
