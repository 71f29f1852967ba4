// Values that every tab reads as they are now. localStorage reaches the processes of other tabs some moments later, so that
// a tab that was given a lock could still read the value from before; a cookie is kept in one place.
const YEAR_SECONDS = 31_536_000;

function write(name: string, value: string, seconds: number): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store does not exist on plain http, and answers later
  document.cookie = `${name}=${value}; path=/; max-age=${seconds}; samesite=strict`;
}

/** Names and values have only characters that a cookie may hold. */
export const sharedStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem(name) {
    const start = `${name}=`;
    const pair = document.cookie.split('; ').find((one) => one.startsWith(start));
    return pair === undefined ? null : pair.slice(start.length);
  },
  setItem(name, value) {
    write(name, value, YEAR_SECONDS);
    sharedStorage.getItem(name); // a read ends only after the write before it
  },
  removeItem(name) {
    write(name, '', 0);
  },
};
