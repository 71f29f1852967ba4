import { isBeforeKind, isEditionWord } from './edition-words.ts';
import { type Token, tokenise } from './tokens.ts';

/**
 * The meaning of a word outside the title. `release` is never in a title; `edition`, `language` and `other` are words
 * of titles too, and count only before a release tag. `doubtful` ones count only between those.
 */
export type Tag = 'release' | 'edition' | 'language' | 'other' | 'doubtful' | 'year';

/** One or several words with one meaning. */
export interface Tagged {
  tokens: readonly Token[];
  start: number;
  end: number;
  tag: Tag | undefined;
}

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const RELEASE = list(
  `readnfo uhd ultrahd fhd 4k 8k bluray bdrip brrip bdremux dvdrip dvdscr dvd5 dvd9 dvdr hdtv hdtvrip pdtv dsr dsrip hdrip webrip webdl webdlrip
   webcap hddvd hddvdrip tvrip vhsrip vodrip satrip dvbrip dvbs dvb dthrip iptvrip remux camrip hdcam telesync hdts telecine ppvrip ppv x264 x265 h264 h265 hevc avc xvid divx av1 vp9 mpeg2 10bit 8bit hi10p hi10 hi444pp ma10p yuv420p10 nvenc aac aac2
   aac5 ac3 eac3 ddp5 ddp2 dd5 dd2 ddp dts dtshd dtsx truehd flac hdr hdr10 hdr10plus hdr10p dovi hlg bt2020 bt709
   rec2020 rec709 hsbs fsbs halfsbs fullsbs sbs3d hsbs3d htab ftab halfou fullou hou 3dhsbs 3dsbs 3dtab 3dhtab 3dou 3dhou 3dmvc 3dftab 3dfsbs hdc yify rartv korsub 1080p10 bdmv webhd
   dvdfull bdfull bdiso mdvdr dvdiso bd25 bd50 hdlight mhd`
    .replaceAll(/\s+/g, ' ')
    .trim(),
);
/** In capitals these are never part of a title. */
const SHOUTED = list(
  'repack real proper rerip readnfo vostfr truefrench subfrench multi fastsub dubbed subbed internal xxx',
);
/** These are words of titles unless they are in capitals. */
const CAPITALS = list(
  'web bd dvd cam ts tc dv hd sd dl ntsc pal vhs ws fs nf amzn hulu dsnp atvp hmax pcok itv bbc tv max full',
);
/** Before release tags these are never part of a title. */
const OTHER = list(
  `repack rerip multi multisub multisubs subbed dubbed readnfo stv cc opus atmos web bd dvd ts tc dv hd hq sd dl ntsc vhs ws nf amzn
   hulu dsnp atvp hmax pcok itunes 3d sbs mvc softsubs hardsub hardsubs vostfr vost ml ld md uncensored doku ac3d nfofix rmvb wmv mux
   2cd 3cd cd1 cd2 untouched avi mkv mp4 m4v divx5 p2p`
    .replaceAll(/\s+/g, ' ')
    .trim(),
);
/** And these only in scene capitalization, such as `LiMiTED`. */
const ORDINARY = list(
  `proper real internal limited dub dual complete retail custom convert cam pal fs tab rip sub subs raw omu dc se audio final batch mic
   line synced hybrid open matte hsub censored om unedited download bonus scene nfo workprint screener festival doku`
    .replaceAll(/\s+/g, ' ')
    .trim(),
);
const LANGUAGE = list(
  `german deutsch french truefrench vff vfq vf vo english eng ger fre fra ita italian spanish spa esp espanol castellano latino
   portuguese por ptbr pt br dublado legendado russian rus japanese jpn jap korean kor chinese chi chs cht mandarin cantonese
   swedish swe danish dan norwegian nor finnish fin dutch nl nld flemish polish pol pl lektor hungarian hun czech cze cz slovak
   greek turkish tur hindi hin tamil telugu arabic hebrew heb thai vietnamese romanian rum ukrainian ukr nordic swesub dansub
   quebec québec norsub nlsubbed swissgerman it fr en de es subfrench`
    .replaceAll(/\s+/g, ' ')
    .trim(),
);

const SIZE =
  /^(?:(?:hdtv|pdtv|dsr|web|webrip|bd|bdrip|br|brrip|dvd|dvdrip|amazon|itunes)(?:x26[45]|mux|hd)\S{0,12}|(?:bluray|webdl|hdtv|dvd)\d{3,4}p|\d?x?dvd[59]|\d{3,4}[pi]\d{0,3}|\d{3,4}x\d{3,4}p?|[hx]26[45]\S{0,20}|\d{1,2}bits?|\d{2,3}fps)$/;
const MOST_WORDS = 3;

/** The words of a name with their meanings. Several words such as `WEB-DL` are one. */
export function tagsOf(name: string): Tagged[] {
  const tokens = tokenise(name);
  const tagged: Tagged[] = [];
  for (let at = 0; at < tokens.length; ) {
    const length = joined(tokens, at);
    const taken = tokens.slice(at, at + length);
    const [first] = taken;
    const last = taken.at(-1);
    if (first && last) {
      const kind = length === 1 && isBeforeKind(first.low, tokens[at + 1]?.low ?? '');
      const tag = kind ? 'edition' : length > 1 ? 'release' : tagOf(first);
      tagged.push({ tokens: taken, start: first.start, end: last.end, tag });
    }
    at += length;
  }
  return tagged;
}

/** `H.264`, `Blu-Ray`, `BT.2020`: how many words from here form one release tag. */
function joined(tokens: readonly Token[], at: number): number {
  for (let length = MOST_WORDS; length > 1; length -= 1) {
    const words = tokens.slice(at, at + length);
    const whole = words.map(({ low }) => low).join('');
    const near = words.every((word, i) => i === 0 || word.start - (words[i - 1]?.end ?? 0) === 1);
    if (words.length === length && near && (RELEASE.has(whole) || SOUND.test(whole)) && !isWord(words)) return length;
  }
  return 1;
}

const SOUND = /^(?:dd|ddp|dd\+|aac|ac3|eac3|dts|dtshd|truehd|flac|opus|ma|dtshdma)[1-9][01](?:ch)?$/;

function isWord(words: readonly Token[]): boolean {
  return words.some(({ low }) => /^(?:the|a|of|and)$/.test(low));
}

const CAPITAL = /^[A-Z][A-Z0-9]*$/;
const SCENE = /[A-Z][^A-Z]*[A-Z]/;
const VERSION = /^v\d$/;

/** The first match wins. */
const TAGS: readonly (readonly [tag: Tag, fits: (low: string, text: string) => boolean])[] = [
  ['release', (low) => RELEASE.has(low) || SIZE.test(low) || SOUND.test(low)],
  ['release', (low, text) => SHOUTED.has(low) && CAPITAL.test(text)],
  ['other', (low, text) => CAPITALS.has(low) && CAPITAL.test(text)],
  ['year', isYear],
  ['edition', isEditionWord],
  ['language', (low, text) => LANGUAGE.has(low) && isCode(text)],
  ['other', (low) => OTHER.has(low) || VERSION.test(low)],
  ['other', (low, text) => ORDINARY.has(low) && SCENE.test(text)],
  ['doubtful', (low) => ORDINARY.has(low)],
];

function tagOf({ text, low }: Token): Tag | undefined {
  return TAGS.find(([, fits]) => fits(low, text))?.[0];
}

/** A short word is a code unless it is capitalized like a name. */
function isCode(text: string): boolean {
  if (text.length > 3) return true;
  return CAPITAL.test(text) || (text.length === 3 && text === text.toLowerCase());
}

/** Positions of release tags that contain digits. */
export function releaseSpans(name: string): [start: number, end: number][] {
  return tagsOf(name).flatMap(({ start, end, tag, tokens }) =>
    tag === 'release' && !(tokens.length === 1 && isYearEpisode(tokens[0]?.low ?? '')) ? [[start, end]] : [],
  );
}

/** `2016x231` is an episode in a season numbered by year. */
function isYearEpisode(text: string): boolean {
  return /^20[0-3]\dx[0-3]\d\d$/.test(text);
}

const FIRST_FILM = 1880;

/** Whether a film may be from this year; a future year is not. */
export function isYear(text: string): boolean {
  const year = /^\d{4}$/.test(text) ? Number(text) : 0;
  return year >= FIRST_FILM && year <= new Date().getFullYear() + 2;
}
