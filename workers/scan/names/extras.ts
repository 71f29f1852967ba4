import { splitName } from './kinds.ts';

/** Folders whose videos are extras of the film, show or season that the folder lies in. */
const FOLDERS: Readonly<Record<string, string>> = {
  trailers: 'trailer',
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
  'theme-music': 'theme-song',
  backdrops: 'theme-video',
  other: 'other',
};

/** Suffixes of file names; the longest that fits counts. */
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
const SUFFIX = new RegExp(`^(.+?)[\\s._]?[-._](${Object.keys(SUFFIXES).join('|')})\\d{0,2}$`, 'i');
const WHOLE: Readonly<Record<string, string>> = { trailer: 'trailer', sample: 'sample' };

/** The kind of extras that a folder of this name holds. */
export function extrasFolder(name: string): string | undefined {
  return FOLDERS[name.toLowerCase().replaceAll(/[_.]+/g, ' ').trim()];
}

/** The kind of extra a file is by its own name, and the name of what it belongs to (empty when the name tells none). */
export function extraFile(name: string): { kind: string; of: string } | undefined {
  const { stem } = splitName(name);
  const whole = WHOLE[stem.toLowerCase()];
  if (whole) return { kind: whole, of: '' };
  const match = stem.length <= 300 ? SUFFIX.exec(stem) : null;
  const kind = SUFFIXES[match?.[2]?.toLowerCase() ?? ''];
  return match && kind ? { kind, of: match[1] ?? '' } : undefined;
}
