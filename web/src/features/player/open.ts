/** Pages that people do not return to. */
const PASSING = /^\/(sign-in|profiles|play|live\/watch|setup)(\/|$)/;

/** An address of the app to return to. */
export const isPlace = (url: URL): boolean => !PASSING.test(url.pathname);

interface Entries {
  entries(): readonly { url: string | null }[];
  currentEntry: { index: number } | null;
}

/** The address before this one in the history of the tab, where the browser says it; entries of other sites have none. */
function placeBefore(): URL | undefined {
  const { navigation } = globalThis as { navigation?: Entries };
  if (!navigation?.currentEntry) return undefined;
  const url = navigation.entries()[navigation.currentEntry.index - 1]?.url;
  return new URL(url ?? '/sign-in', location.origin);
}

/** True when going back leads to a page of the app; `cameFromApp` decides where the browser does not report the address. */
export function leadsBack(cameFromApp: boolean): boolean {
  const before = placeBefore();
  return before ? isPlace(before) : cameFromApp;
}
