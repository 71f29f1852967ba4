import { splitName } from './kinds.ts';
import { bareTitle, tidy } from './title.ts';

/** Folders whose videos are extras of the film, show or season of the parent folder. */
const FOLDERS: Readonly<Record<string, string>> = {
  trailers: 'trailer',
  trailer: 'trailer',
  extra: 'other',
  extras: 'other',
  featurettes: 'featurette',
  'behind the scenes': 'behind-the-scenes',
  'deleted scenes': 'deleted-scene',
  interviews: 'interview',
  scenes: 'scene',
  shorts: 'short',
  clips: 'clip',
  samples: 'sample',
  sample: 'sample',
  'theme music': 'theme-song',
  backdrops: 'theme-video',
  other: 'other',
  others: 'other',
};

/** Suffixes of file names after a dash. */
const SUFFIXES: Readonly<Record<string, string>> = {
  trailer: 'trailer',
  behindthescenes: 'behind-the-scenes',
  deletedscene: 'deleted-scene',
  deleted: 'deleted-scene',
  featurette: 'featurette',
  interview: 'interview',
  sample: 'sample',
  scene: 'scene',
  short: 'short',
  clip: 'clip',
  extra: 'other',
  other: 'other',
};
/** These may also follow a dot, an underscore or a spaced dash: `300.trailer`, `300 - sample`, `300 trailer`. */
const PLAIN = new Set(['trailer', 'sample']);
const LAST_WORD = /([a-z]{4,15})(\d{0,2})$/i;

/** The parsed suffix of an extra's file name. */
export interface ExtraFile {
  kind: string;
  /** The name of the item that it belongs to; empty if the name contains none. */
  of: string;
  /** Only a space precedes the suffix: it may be a word of a title. */
  spaced?: true;
  /** `2` of `trailer2`. */
  number?: number;
}

/** The kind of extras in a folder with this name. */
export function extrasFolder(name: string): string | undefined {
  return FOLDERS[name.toLowerCase().replaceAll(/[_.-]/g, ' ').trim()];
}

/** The kind of extra according to the file's own name. */
export function extraFile(name: string): ExtraFile | undefined {
  const stem = splitName(name).stem.slice(0, 300).trim();
  const match = LAST_WORD.exec(stem);
  const word = (match?.[1] ?? '').toLowerCase();
  const kind = SUFFIXES[word];
  if (!match || kind === undefined) return undefined;
  const number = match[2] ? { number: Number(match[2]) } : {};
  if (match.index === 0) return PLAIN.has(word) ? { kind, of: '', ...number } : undefined;
  const before = ofSuffix(stem.slice(0, match.index), PLAIN.has(word));
  return before && { kind, ...before, ...number };
}

/** Parses the name before the suffix. */
function ofSuffix(before: string, plain: boolean): Pick<ExtraFile, 'of' | 'spaced'> | undefined {
  const of = beforeSign(before, plain);
  if (of !== undefined) return { of };
  return plain && before.endsWith(' ') ? { of: before.trim(), spaced: true } : undefined;
}

/** The name before the separator of the suffix; undefined without one. */
function beforeSign(before: string, plain: boolean): string | undefined {
  const sign = before.trimEnd().at(-1) ?? '';
  const spaced = /\s$/.test(before);
  if (sign === '-') return plain || !spaced ? before.trimEnd().slice(0, -1).trim() : undefined;
  return plain && !spaced && (sign === '.' || sign === '_') ? before.slice(0, -1).trim() : undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  trailer: 'Trailer',
  'behind-the-scenes': 'Behind the Scenes',
  'deleted-scene': 'Deleted Scene',
  featurette: 'Featurette',
  interview: 'Interview',
  sample: 'Sample',
  scene: 'Scene',
  short: 'Short',
  clip: 'Clip',
};

/** The title of an extra: the name without the suffix, release tags and the film that it belongs to. */
export function extraTitle(name: string, isFilm: (of: string) => boolean = () => false): string {
  const suffix = extraFile(name);
  const { stem } = splitName(name);
  if (!suffix) return bareTitle(stem) || tidy(stem) || name;
  const named = suffix.of === '' || isFilm(suffix.of) ? '' : bareTitle(suffix.of);
  return named || wordOf(suffix);
}

function wordOf({ kind, number }: ExtraFile): string {
  const word = WORDS[kind] ?? 'Extra';
  return number === undefined ? word : `${word} ${number}`;
}
