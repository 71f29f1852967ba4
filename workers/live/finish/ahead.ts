/** Loads in order, so many at once. */
export async function* ahead<T, R>(
  items: readonly T[],
  load: (item: T) => Promise<R>,
  most: number,
): AsyncGenerator<[item: T, loaded: R]> {
  const begun: Promise<R>[] = [];
  for (const [at, item] of items.entries()) {
    for (const next of items.slice(at + begun.length, at + most)) {
      const loading = load(next);
      loading.catch(() => undefined); // the turn of the item reports it
      begun.push(loading);
    }
    yield [item, await (begun.shift() as Promise<R>)];
  }
}
