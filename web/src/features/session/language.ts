// Loads the texts of a language before the first paint: one chunk with those of Home, and one with the rest for all other pages.
import { bestLanguage } from '#core/messages/choose.ts';
import { language, useTexts } from '#core/messages/text.ts';
import { languages } from '#messages/languages.ts';
import { later } from '#messages/later.ts';

const CHOSEN = 'foyer.language';
const HOME = '/(app)';

/** Loads the texts that a page needs, in the language that this browser uses. */
export async function loadLanguage({ route }: { route: { id: string | null } }): Promise<void> {
  const chosen = localStorage.getItem(CHOSEN);
  const known = Object.keys(languages);
  const tag = bestLanguage([...(chosen ? [chosen] : []), ...navigator.languages], known) as keyof typeof languages;
  const rest = route.id === HOME ? undefined : later[tag]();
  const parts = await Promise.all([languages[tag](), rest]);
  useTexts(tag, Object.assign({}, ...parts.map((part) => part?.table)));
  document.documentElement.lang = tag;
}

/** Loads the texts of the other pages ahead of the navigation. */
export async function readyTexts(): Promise<void> {
  await later[language() as keyof typeof later]();
}
