// Answers that the shell requested before the script of the app was there.

type Early = Map<string, Promise<Response>>;

const waiting: Early = (globalThis as { foyerEarly?: Early }).foyerEarly ?? new Map();

/** As fetch, but the first reading of an address that the shell requested takes its answer. A change makes the others out of date. */
export const earlyFetch: typeof fetch = (address, init) => {
  if ((init?.method ?? 'GET') !== 'GET') waiting.clear();
  const { pathname, search } = new URL(address instanceof Request ? address.url : address, location.origin);
  const sent = search === '' ? waiting.get(pathname) : undefined;
  waiting.delete(pathname);
  return sent ? sent.catch(() => fetch(address, init)) : fetch(address, init);
};
