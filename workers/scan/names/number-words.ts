import { endOf, isCalendarYear, type Numbers, ranged, several } from './number-ranges.ts';

const SEASON = '(?:seasons?|staffel|saison|temporada|stagione|seizoen|sezon|sezona|sæson|säsong|kausi|сезон|se|s)';
const EPISODE = '(?:episodes?|episodio|épisode|folge|jakso|avsnitt|серия|эпизод|afl|epi|eps?|xe|e|x)';
const SEASON_EPISODE = new RegExp(
  `(?<![\\p{L}\\d])(?:${SEASON}|t)[\\s._-]{0,3}(\\d{1,4})[\\s._,()[\\]-]{0,4}${EPISODE}[\\s._([-]{0,3}(\\d{1,5})(?![\\d])`,
  'iu',
);
const CROSSED = /(?<![\p{L}\d])(\d{1,2}|(?:19|20)\d\d)[\s._]?x[\s._]?(\d{1,4})(?![\d]|\p{L}{2})/iu;
const BRITISH = /(?<![\p{L}\d])series[\s._](\d{1,2})[\s._,-]{0,3}(?:ep|episode)[\s._]{0,2}(\d{1,3})(?!\d)/iu;
const GLUED = /s(\d\d)e(\d\d)(?!\d)|(?<=\p{L})(\d{1,2})x(\d\d)(?!\d)|(?<![\p{L}\d])s(?!19|20)(\d\d)(\d\d)(?!\d)/iu;
/** `5-й сезон 09-я серия`, `3.sezon.22.seria`. */
const RUSSIAN =
  /(?<![\p{L}\d])(\d{1,2})(?:-?й)?[\s._]?(?:сезон|sezon|sez)[\s._,]{1,3}(\d{1,3})(?:-?я)?[\s._]?(?:серия|сер|seri[ya]a?|ser)(?!\p{L})/iu;
/** `[5.01]`, `- 6.01 -`, `Episode 1.22`. */
const DOTTED = /(?:^|[[(]|\s-\s|\bepisode\s)(\d{1,2})\.(\d{2,3})(?=[\])]|\s|$)/iu;

const WAYS = [SEASON_EPISODE, CROSSED, BRITISH, RUSSIAN, GLUED, DOTTED];

/** `S01E02`, `1x02`, `Season 1 Episode 2`. */
export function seasonEpisode(name: string): Numbers | undefined {
  const match = WAYS.reduce<RegExpExecArray | null>((found, way) => found ?? way.exec(name), null);
  if (!match) return undefined;
  const [season, number] = match.slice(1).filter((digits) => digits !== undefined);
  return several(name, { season: Number(season), number: Number(number), at: match.index, end: endOf(match) });
}

const EPISODE_WORD =
  /(?<![\p{L}\d])(?:episodes?|episodio|épisode|folge|jakso|avsnitt|серия|эпизод|afl|epi|eps?|#)[\s._-]{0,3}(\d{1,5})(?:v\d)?(?![\d])(?!\p{L}{2})/iu;
const SHORT_WORD = /(?<![\p{L}\d])e[._]?(\d{1,5})(?:v\d)?(?![\d])(?!\p{L}{2})/iu;
/** `08.seriya`, `05 сер.`. */
const RUSSIAN_NUMBER = /(?<![\p{L}\d])(\d{1,3})(?:-?я)?[\s._]?(?:серия|сер|seriya|seria)(?!\p{L})/iu;
const COUNTED = /(?<![\p{L}\d])(\d{1,4})\.?\s?(?:bölüm|bolum|blm)(?!\p{L})/iu;
const SPECIAL = /(?<![\p{L}\d])(?:(?:sp|ex|ova|oad)[\s._-]{0,3}|(?:nc)?(?:op|ed))(\d{1,3})(?:v\d)?(?![\p{L}\d])/iu;
const HAN_SEASON = /第\s?(\d{1,2})\s?[季期]/u;
const HAN = /第\s?(\d{1,4})\s?[話话集回]|(?<!\d)(\d{1,4})\s?[話话集회화](?!\p{L})/u;
const CHAPTER = /(?<![\p{L}\d])cap[\s._]{0,2}(\d{1,2})(\d\d)(?:_(?:\d{1,2})(\d\d))?(?!\d)/iu;
const OF = /(?<![\p{L}\d])(\d{1,3})[\s._]?of[\s._]?\d{1,3}(?!\d)/iu;

/** `Episode 2`, `ep02`, `第2話`, `Cap.102`, `2of8`. */
export function worded(name: string): Numbers | undefined {
  const chapter = CHAPTER.exec(name);
  if (chapter) {
    const [season, number, last] = chapter.slice(1).map(Number);
    return ranged({ match: chapter, season, number: number ?? 0, last });
  }
  const match =
    EPISODE_WORD.exec(name) ?? SHORT_WORD.exec(name) ?? RUSSIAN_NUMBER.exec(name) ?? HAN.exec(name) ?? OF.exec(name);
  if (!match) return undefined;
  const season = HAN_SEASON.exec(name)?.[1];
  return several(
    name,
    ranged({ match, season: season === undefined ? undefined : Number(season), number: numberIn(match) }),
  );
}

function numberIn(match: RegExpExecArray): number {
  return Number(match[1] ?? match[2]);
}

/** `2. Bölüm`. */
export function counted(name: string): Numbers | undefined {
  const match = COUNTED.exec(name);
  return match ? ranged({ match, number: Number(match[1]) }) : undefined;
}

/** `SP01`, `OVA 1`. */
export function special(name: string): Numbers | undefined {
  const match = SPECIAL.exec(name);
  return match ? ranged({ match, season: 0, number: Number(match[1]) }) : undefined;
}

const SEASON_NUMBER = new RegExp(
  `(?<![\\p{L}\\d])(?:${SEASON}[\\s._-]{0,2}(\\d{1,2})|(\\d{1,2})(?:st|nd|rd|th)[\\s._]season)[\\])]?[\\s._]{0,2}(?:[-[][\\s._]{0,2}|[\\s._])(\\d{1,4})(?:v\\d)?(?![\\p{L}\\d])`,
  'iu',
);

/** `Title S2 - 03`: the season is marked, the number is not. */
export function seasonNumber(name: string): Numbers | undefined {
  const match = SEASON_NUMBER.exec(name);
  if (!match || isCalendarYear(Number(match[3]))) return undefined;
  return several(name, {
    season: Number(match[1] ?? match[2]),
    number: Number(match[3]),
    at: match.index,
    end: endOf(match),
  });
}
