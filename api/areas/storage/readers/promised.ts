type Done<T> = (error: Error | undefined, value: T) => void;

/** The result of a call that takes a callback. */
export function promised<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => start((error, value) => (error ? reject(error) : resolve(value))));
}
