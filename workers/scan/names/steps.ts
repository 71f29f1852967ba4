/** Work that can pause at each `yield`: thousands of names must not hold the event loop. */
export type Steps<T> = Generator<undefined, T>;

/** Does the work without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
