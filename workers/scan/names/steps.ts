/** Work that can pause at each `yield`, because thousands of names must not block the event loop. */
export type Steps<T> = Generator<undefined, T>;

/** Runs the work without pauses. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
