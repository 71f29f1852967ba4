// Loads the texts of a language, one chunk each, before the first paint.
import { bestLanguage } from '#core/messages/choose.ts';
import { useTexts } from '#core/messages/text.ts';
import { languages } from '#messages/languages.ts';

const CHOSEN = 'foyer.language';

/** Loads the texts of the language that this browser uses. */
export async function loadLanguage(): Promise<void> {
  const chosen = localStorage.getItem(CHOSEN);
  const known = Object.keys(languages);
  const tag = bestLanguage([...(chosen ? [chosen] : []), ...navigator.languages], known) as keyof typeof languages;
  const { table } = await languages[tag]();
  useTexts(tag, table);
  document.documentElement.lang = tag;
}
