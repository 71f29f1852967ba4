/** Processes all items, several at once. */
export async function inLanes<T>(
  all: readonly T[],
  { lanes, signal }: { lanes: number; signal?: AbortSignal },
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = all.values();
  const lane = async (): Promise<void> => {
    for (const next of waiting) {
      signal?.throwIfAborted();
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
