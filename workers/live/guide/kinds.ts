// The kind of a programme, by the words that guides use for categories.

export type ProgramKind = 'movie' | 'series' | 'sports' | 'news' | 'kids' | 'music' | 'other';

/** By precedence: a film for children is a film, a series for children is for children. */
const WORDS: readonly [ProgramKind, RegExp][] = [
  ['movie', /\b(?:movies?|feature film|films?|spielfilm|fernsehfilm|cin[eé]ma|pel[ií]culas?|speelfilm|elokuva)\b/],
  ['sports', /\b(?:sports?|deportes?|fu(?:ss|ß)ball|football|soccer|tennis|basketball|hockey|motorsport|urheilu)\b/],
  ['news', /\b(?:news|nachrichten|noticias|journal|actualit[eé]s|nieuws|nyheter|uutiset|telegiornale|newsmagazine)\b/],
  ['kids', /\b(?:child(?:ren)?(?:'s)?|kids?|kinder(?:programm)?|jeunesse|infantil|bambini|jeugd|barn)\b/],
  ['series', /\b(?:series|serie|s[eé]rie|soap|sitcom|episodic|telenovela|drama series|feuilleton)\b/],
  ['music', /\b(?:music|musik|musique|m[uú]sica|musical|concert|konzert|muziek)\b/],
];

/** The kind by its categories; an episode without a known category is part of a series. */
export function kindOf(categories: readonly string[], isEpisode: boolean): ProgramKind {
  const words = categories.map((category) => category.toLowerCase());
  for (const [kind, shape] of WORDS) {
    if (kind === 'movie' && isEpisode) continue;
    if (words.some((word) => shape.test(word))) return kind;
  }
  return isEpisode ? 'series' : 'other';
}
