import { languageTag } from '#workers/probe/languages.ts';

/** Other spellings in use, besides the English and own names. */
const NAMES: Readonly<Record<string, string>> = {
  brazilian: 'pt-BR',
  'brazilian portuguese': 'pt-BR',
  castellano: 'es',
  latino: 'es-419',
  farsi: 'fa',
  mandarin: 'zh',
  simplified: 'zh-Hans',
  traditional: 'zh-Hant',
  chs: 'zh-Hans',
  cht: 'zh-Hant',
  tagalog: 'fil',
  greek: 'el',
  norwegian: 'no',
  slovenian: 'sl',
  kurdish: 'ku',
};
const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i));
const english = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
let made: ReadonlyMap<string, string> | undefined;

/** The English and own names of every language with a two-letter code. */
function names(): ReadonlyMap<string, string> {
  if (made) return made;
  const codes = LETTERS.flatMap((one) => LETTERS.map((two) => `${one}${two}`));
  const pairs = codes.flatMap((code) => {
    const name = english.of(code);
    if (name === undefined || name === code || languageTag(code) !== code) return [];
    const own = new Intl.DisplayNames(code, { type: 'language', fallback: 'none' }).of(code);
    return [name, own ?? name].map((word): [string, string] => [word.toLowerCase(), code]);
  });
  made = new Map([...pairs.toReversed(), ...Object.entries(NAMES)]);
  return made;
}

const CODE = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}$/i;

/** The BCP 47 tag of a code or of the name of a language, in English or in itself. Undefined for any other word. */
export function languageOf(word: string): string | undefined {
  const named = names().get(word.toLowerCase());
  if (named !== undefined) return named;
  if (word.length > 35 || !CODE.test(word)) return undefined;
  const tag = languageTag(word);
  try {
    return tag !== undefined && english.of(tag) !== undefined ? tag : undefined;
  } catch {
    return undefined;
  }
}
