// Loads the texts of a language before the first paint: one chunk with those of Home, and one with the rest for all other pages.
import { bestLanguage } from '#core/messages/choose.ts';
import { useTexts } from '#core/messages/text.ts';
import { languages } from '#messages/languages.ts';
import { later } from '#messages/later.ts';

const CHOSEN = 'foyer.language';
const HOME = '/(app)';

let isComplete = false;

/** Loads the texts of Home and of the error page, in the language that this browser uses. */
export async function loadLanguage(): Promise<void> {
  const tag = chosen();
  useTexts(tag, (await languages[tag]()).table);
  document.documentElement.lang = tag;
}

/**
 * Loads the texts of the other pages, for a page that is not Home. The layouts of the groups call it, in place of the one at the
 * root: Kit shows the error page for a group that could not be loaded.
 */
export async function loadRest({ route }: { route: { id: string | null } }): Promise<void> {
  // A layout that has read the route is loaded again by each navigation.
  if (!isComplete && route.id !== HOME) await readyTexts();
}

/** Loads the texts of the other pages ahead of the navigation. */
export async function readyTexts(): Promise<void> {
  const tag = chosen();
  useTexts(tag, (await later[tag]()).table);
  isComplete = true;
}

function chosen(): keyof typeof languages {
  const kept = localStorage.getItem(CHOSEN);
  return bestLanguage(
    [...(kept ? [kept] : []), ...navigator.languages],
    Object.keys(languages),
  ) as keyof typeof languages;
}
