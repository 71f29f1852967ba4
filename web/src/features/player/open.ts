/** Pages that people do not return to. */
const PASSING = /^\/(sign-in|profiles|play|setup)(\/|$)/;

/** An address of the app to return to; true where the browser does not say the address. */
export const isPlace = (url: URL | undefined): boolean => url === undefined || !PASSING.test(url.pathname);

interface Entries {
  entries(): readonly { url: string | null }[];
  currentEntry: { index: number } | null;
}

/** The address before this one in the history of the tab, where the browser says it; entries of other sites have none. */
export function placeBefore(): URL | undefined {
  const { navigation } = globalThis as { navigation?: Entries };
  if (!navigation?.currentEntry) return undefined;
  const url = navigation.entries()[navigation.currentEntry.index - 1]?.url;
  return new URL(url ?? '/sign-in', location.origin);
}
