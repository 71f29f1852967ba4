/** By language; English articles are always removed, because films keep English names abroad. */
const ARTICLES: Record<string, string> = {
  ca: 'el|la|els|les|en|na|un|una',
  da: 'den|det|de|en|et',
  de: 'der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines',
  es: 'el|la|los|las|lo|un|una|unos|unas',
  fr: 'le|la|les|un|une|des',
  gl: 'o|a|os|as|un|unha',
  hu: 'az|a|egy',
  is: 'hinn|hin|hið',
  it: 'il|lo|la|i|gli|le|un|uno|una',
  nb: 'den|det|de|en|et|ei',
  nl: 'de|het|een',
  nn: 'den|det|dei|ein|ei|eit',
  no: 'den|det|de|en|et|ei',
  pt: 'o|a|os|as|um|uma|uns|umas',
  sv: 'den|det|de|en|ett',
};
/** Articles that are joined with the word. */
const ELIDED: Record<string, string> = { ca: "[ln]['’]", fr: "l['’]", it: "(?:l|un|gl)['’]" };

const leading = new Map<string, RegExp>();

function articlesOf(language: string): RegExp {
  const known = leading.get(language);
  if (known) return known;
  const words = ['the', 'an?', ...(ARTICLES[language] ? [ARTICLES[language]] : [])].join('|');
  const elided = ELIDED[language];
  const made = new RegExp(`^(?:(?:${words})\\s+${elided ? `|${elided}` : ''})(?=\\S)`, 'iu');
  leading.set(language, made);
  return made;
}

/**
 * The title for sorting, without the leading article of the library's language (and of English); the database sorts by
 * that language.
 */
export function sortTitle(title: string, language = 'en'): string {
  const [own = ''] = language.toLowerCase().split('-');
  return title.replace(articlesOf(own), '').toLowerCase() || title.toLowerCase();
}
