const MAX = 300;

/** "Season" in the languages that other media servers recognize. */
const WORDS =
  'season|seasons|series|staffel|saison|temporada|stagione|seizoen|sezon|sezona|sezóna|sezonul|sæson|säsong|seasong|kausi|évad|сезон|시즌|シーズン|serie|sesong|tímabil|σεζόν|kausi|сезона|sezono|hooaeg|sezonas|musim|mùa|phần|séria|temp|denboraldia|سيزون|الموسم|فصل|עונה|सीज़न|ซีซั่น';
const NUMBER_BEHIND = new RegExp(`^(?:${WORDS})[\\s._-]{0,3}(\\d{1,4})(?![\\p{L}\\d])`, 'iu');
const NUMBER_BEFORE = new RegExp(
  `^(\\d{1,4})(?:st|nd|rd|th|ª|º|\\.|-?й|-?я)?[\\s._-]{0,3}(?:${WORDS})(?=$|[\\s._-]{0,3}[([])`,
  'iu',
);
const HAN = /^(?:第\s?(\d{1,4}|[一二三四五六七八九十])|(\d{1,4}))\s?(?:[季期기]|シーズン|시즌)/u;
const HAN_NUMBERS = '一二三四五六七八九十';
const SHORT = /^s(\d{1,4})(?![\p{L}\d])|^s(\d{1,2})(?=d(?:isc)?\d{1,2}$)/iu;
/** `Season Two`, `Season II`, `Second Season`. */
const SPELT = /^(?:season|series|saison|staffel)[\s._-]([a-z]{1,6})$|^([a-z]{5,7})[\s._-](?:season|series)$/i;
const CARDINALS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const ROMANS = ['none', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x'];
const SPECIALS =
  /^(?:specials?|ovas?|oads?|extras season|spéciaux|especiales|speciali|sonderfolgen|spezials)(?:[\s._-]{0,3}\(\d{4}\))?$/iu;

const EPISODE_BEHIND = /^[\s._-]{0,3}(?:e|x|ep|episode)[\s._-]{0,2}\d/i;

/** The number of a folder named like a season and nothing else. */
export function seasonOf(folder: string): number | undefined {
  const name = folder.normalize('NFC').trim().slice(0, MAX);
  if (SPECIALS.test(name)) return 0;
  const match = NUMBER_BEHIND.exec(name) ?? NUMBER_BEFORE.exec(name) ?? SHORT.exec(name);
  if (!match) return hanSeason(name) ?? speltSeason(name);
  const rest = name.slice(match[0].length);
  return MARK.test(rest) || EPISODE_BEHIND.test(rest) ? undefined : Number(match[1] ?? match[2]);
}

function speltSeason(name: string): number | undefined {
  const [, behind, before] = SPELT.exec(name) ?? [];
  const word = (behind ?? before ?? '').toLowerCase();
  const lists = behind === undefined ? [ORDINALS] : [CARDINALS, ROMANS];
  const at = Math.max(...lists.map((list) => list.indexOf(word)));
  return at > 0 ? at : undefined;
}

function hanSeason(name: string): number | undefined {
  const [, counted, bare] = HAN.exec(name) ?? [];
  const digits = counted ?? bare;
  if (digits === undefined) return undefined;
  return HAN_NUMBERS.includes(digits) ? HAN_NUMBERS.indexOf(digits) + 1 : Number(digits);
}

/** A folder with only a number is a season if it is in the folder of a show. */
export function numberedSeason(folder: string): number | undefined {
  const name = folder.trim();
  return /^(?:\d{1,2}|(?:19|20)\d\d)$/.test(name) ? Number(name) : undefined;
}

const MARK = /(?<![\p{L}\d'’])s(\d{1,4})(?:[\s._]?-[\s._]?(?:s|season\s)?(\d{1,4}))?(?![\dex])/iu;
const WORDED = new RegExp(
  `(?<![\\p{L}\\d'’])(?:${WORDS}|tem|temp)[\\s._-]{0,3}(\\d{1,4})(?:[\\s._]?-[\\s._]?(?:s|season\\s)?(\\d{1,4}))?(?![\\dex]|-\\d)`,
  'iu',
);
const HAN_WITHIN = /第\s?(\d{1,2})\s?[季期]/u;
const ORDINAL = /(?<![\p{L}\d])(?:(\d{1,2})(?:st|nd|rd|th)|(first|second|third|fourth|fifth))[\s._]season(?!\p{L})/iu;
const ORDINALS = ['none', 'first', 'second', 'third', 'fourth', 'fifth'];
const SPACED = /(?<![\p{L}\d'’])s (\d{2})(?![\p{L}\d])/iu;

/** "Series" is a word of titles too, so its number must be short. */
function wordedIn(name: string): RegExpExecArray | null {
  const match = WORDED.exec(name);
  return match && /^series?[\s._-]{0,3}\d{3}/i.test(match[0]) ? null : match;
}

/** Notations of a season inside a name, the clearest first. */
const WITHIN: readonly ((name: string) => RegExpExecArray | null)[] = [
  (name) => MARK.exec(name),
  wordedIn,
  (name) => ORDINAL.exec(name),
  (name) => HAN_WITHIN.exec(name),
  (name) => SPACED.exec(name),
];

/** `Show.S02.1080p`: the name before the season, and its number unless it is several. */
export function seasonWithin(folder: string): { before: string; season?: number } | undefined {
  const name = folder.slice(0, MAX);
  const match = WITHIN.reduce<RegExpExecArray | null>((found, read) => found ?? read(name), null);
  if (!match || match.index === 0) return undefined;
  const before = name.slice(0, match.index);
  const season = numberOf(match);
  return season === undefined ? { before } : { before, season };
}

function numberOf([, digits, other]: RegExpExecArray): number | undefined {
  if (digits !== undefined) return other === undefined ? Number(digits) : undefined;
  const at = ORDINALS.indexOf((other ?? '').toLowerCase());
  return at < 0 ? undefined : at;
}

const INNER =
  /^(?:(?:cd|dvd|disc|disk|disque|bd|bluray|blu-ray|vol|volume|part|teil|episodes?|ep|folge)[\s._-]{0,3}(?:\d{1,4}|[a-d])|subs?|subtitles?|episodes?|videos?)$/iu;

const EPISODE_FOLDER =
  /^(?:episodes?|ep|e|folge|épisode|episodio|avsnitt|jakso|серия|afl)[\s._-]{0,3}\d{1,4}(?!\d|\p{L})/iu;
const NUMBERED_FOLDER = /^\d{1,4}(?!\d|\p{L})/u;

/** `Episode 05`, and `05 - Pilot` in the folder of a season, contain the files of one episode. */
export function isEpisodeFolder(folder: string, parent: string): boolean {
  const name = folder.trim();
  return EPISODE_FOLDER.test(name) || (seasonOf(parent) !== undefined && NUMBERED_FOLDER.test(name));
}

/** A folder that contains only a part of a show or film: `Disc 1`, `Episode 05`. */
export function isInnerFolder(folder: string): boolean {
  return INNER.test(folder.trim());
}
