import { kindOf, splitName } from './kinds.ts';
import { languageOf } from './languages.ts';
import { oneLine } from './text.ts';

/** The parsed `name.lang.flag.ext` of a subtitle or audio track next to a video. */
export interface Sidecar {
  kind: 'subtitle' | 'audio';
  codec: string;
  language?: string;
  title?: string;
  default: boolean;
  forced: boolean;
  hearingImpaired: boolean;
}

const CODECS: Readonly<Record<string, string>> = {
  srt: 'subrip',
  ass: 'ass',
  ssa: 'ass',
  vtt: 'webvtt',
  sup: 'pgs',
  idx: 'vobsub',
  sub: 'microdvd',
  smi: 'sami',
  ttml: 'ttml',
  mka: 'mka',
  thd: 'truehd',
};
const FLAGS: Readonly<Record<string, 'default' | 'forced' | 'hearingImpaired'>> = {
  default: 'default',
  forced: 'forced',
  foreign: 'forced',
  sdh: 'hearingImpaired',
  cc: 'hearingImpaired',
  hi: 'hearingImpaired',
};

/** Every stem of a video that the sidecar may belong to, the longest first. */
export function* sidecarStems(name: string): Generator<string> {
  const kind = kindOf(name);
  if (kind !== 'subtitle' && kind !== 'audio') return;
  const { stem } = splitName(name);
  yield stem;
  for (let end = stem.length - 1; end > 0; end -= 1) if (BOUNDARY.test(stem.charAt(end))) yield stem.slice(0, end);
}

const BOUNDARY = /[._\s-]/;

/** Parses the words between the video's name and the extension; undefined if the file belongs to another video. */
export function readSidecar(name: string, videoStem: string): Sidecar | undefined {
  const kind = kindOf(name);
  const { stem, extension } = splitName(name);
  if (kind !== 'subtitle' && kind !== 'audio') return undefined;
  if (!stem.startsWith(videoStem) || !/^(?:$|[._\s-])/.test(stem.slice(videoStem.length))) return undefined;
  const words = stem
    .slice(videoStem.length)
    .replace(/^[-_\s]{1,3}/, '')
    .split('.')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .flatMap(knownParts);
  return { kind, codec: CODECS[extension] ?? extension, ...flagsOf(words) };
}

/** `English SDH`, `en-forced`, `2_English`: only languages and flags. `ru-Commentary`: a language code and a title. */
function knownParts(word: string): string[] {
  const parts = word.split(/[\s_-]/).filter((part) => part !== '' && part !== '-');
  const [first = '', ...rest] = parts;
  if (rest.length === 0 || languageOf(word) !== undefined) return [word];
  const named = parts.filter((part) => !/^\d{1,2}$/.test(part));
  if (named.every((part) => languageOf(part) !== undefined || FLAGS[part.toLowerCase()])) return named;
  const coded = word.charAt(first.length) === '-' && first.length <= 3 && languageOf(first) !== undefined;
  return coded ? [first, word.slice(first.length + 1)] : [word];
}

type Flags = Omit<Sidecar, 'kind' | 'codec'>;

/** The last word that names a language is the language; the remaining words are the title. */
function flagsOf(words: readonly string[]): Flags {
  const flags: Flags = { default: false, forced: false, hearingImpaired: false };
  const rest = words.filter((word) => !noteFlag(flags, { word, words }));
  const at = rest.findLastIndex((word) => languageOf(word) !== undefined);
  const language = languageOf(rest[at] ?? '');
  const title = trimDash(rest.filter((_word, i) => i !== at).join(' '));
  return { ...flags, ...(language === undefined ? {} : { language }), ...(title === '' ? {} : { title }) };
}

function trimDash(text: string): string {
  return oneLine(text.startsWith('-') ? text.slice(1) : text);
}

interface Place {
  word: string;
  words: readonly string[];
}

/** `hi` alone is Hindi; after a language it means "hearing impaired". */
function noteFlag(flags: Flags, { word, words }: Place): boolean {
  const low = word.toLowerCase();
  const flag = FLAGS[low];
  if (!flag) return false;
  if (low === 'hi' && !words.some((other) => other !== word && languageOf(other) !== undefined)) return false;
  flags[flag] = true;
  return true;
}

/** Kinds of local pictures by their names. */
const PICTURES: readonly (readonly [kind: string, names: readonly string[]])[] = [
  ['poster', ['poster', 'folder', 'cover', 'movie', 'show']],
  ['backdrop', ['backdrop', 'fanart', 'background', 'art']],
  ['logo', ['logo', 'clearlogo']],
  ['thumb', ['thumb', 'landscape']],
  ['banner', ['banner']],
  ['clearart', ['clearart']],
  ['disc', ['disc', 'discart', 'cdart']],
];

/** Several backdrops may have numbers, `fanart1.jpg`; of every other kind there is one. */
const MOST_NUMBER = 99;

export interface Picture {
  kind: string;
  /** Whether it is named like the video. */
  own: boolean;
}

/** The stems, in lower case, of videos that a picture may belong to; an empty one means the whole folder. */
export function pictureStems(name: string): (Picture & { stem: string })[] {
  if (kindOf(name) !== 'picture') return [];
  const stem = splitName(name).stem.toLowerCase();
  const stems = [{ stem, kind: 'thumb', own: true }];
  for (let dash = stem.indexOf('-'); dash >= 0; dash = stem.indexOf('-', dash + 1)) {
    const kind = pictureWord(stem.slice(dash + 1));
    if (kind !== undefined && dash > 0) stems.push({ stem: stem.slice(0, dash), kind, own: true });
  }
  const kind = pictureWord(stem);
  return kind === undefined ? stems : [...stems, { stem: '', kind, own: false }];
}

/** A picture of the whole folder, such as `poster.jpg`. */
export function isSharedPicture(name: string): boolean {
  return pictureStems(name).some(({ own }) => !own);
}

/** `backdrop:2` of `fanart2`. */
function pictureWord(word: string): string | undefined {
  const [, bare = word, number] = /^(.*?)-?(\d{1,2})$/.exec(word) ?? [];
  const kind = PICTURES.find(([, names]) => names.includes(bare))?.[0];
  const several = kind === 'backdrop' && number !== undefined && Number(number) <= MOST_NUMBER;
  return several ? `${kind}:${Number(number)}` : kind;
}

const SEASON_PICTURE = /^season(?:[ _-]?(\d{1,4})|-(specials))(?:-([a-z]{1,20}))?$/;

/** A picture of a season in the folder of its show: `season01-poster.jpg`, `season-specials-banner.png`. */
export function seasonPicture(name: string): { season: number; kind: string } | undefined {
  if (kindOf(name) !== 'picture') return undefined;
  const [whole, number, specials, word = 'poster'] = SEASON_PICTURE.exec(splitName(name).stem.toLowerCase()) ?? [];
  const kind = whole === undefined ? undefined : pictureWord(word);
  return kind === undefined ? undefined : { season: specials ? 0 : Number(number), kind };
}

/** The kind of a picture next to a video or in its folder: `poster.jpg`, `<video>-poster.jpg`, `<video>.jpg`. */
export function pictureKind(name: string, videoStem: string): Picture | undefined {
  const stems = pictureStems(name);
  const found = stems.find(({ stem }) => stem === videoStem.toLowerCase()) ?? stems.find(({ own }) => !own);
  return found && { kind: found.kind, own: found.own };
}
