/** The kind of a file in a library folder, by its name alone; its content decides later whether a video is one. */
export type FileKind = 'video' | 'subtitle' | 'audio' | 'nfo' | 'picture' | 'lyrics' | 'other';

const EXTENSIONS: Readonly<Record<Exclude<FileKind, 'other'>, string>> = {
  video:
    'mkv mp4 m4v mov avi webm ts m2ts mts mpg mpeg mpe m2v vob wmv asf flv f4v ogv ogm divx 3gp 3g2 rm rmvb mk3d dv wtv mxf',
  subtitle: 'srt ass ssa vtt sub idx sup smi ttml',
  audio: 'mka ac3 eac3 dts thd aac m4a mp3 flac opus ogg wav',
  nfo: 'nfo',
  picture: 'jpg jpeg png webp avif gif tbn bmp',
  lyrics: 'lrc',
};
const KINDS = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, list]) => list.split(' ').map((ext) => [ext, kind as FileKind] as const)),
);

/** Name without its extension, and the extension in lower case without the dot. */
export function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return { stem: name, extension: '' };
  return { stem: name.slice(0, dot), extension: name.slice(dot + 1).toLowerCase() };
}

/** The kind by extension. */
export function kindOf(name: string): FileKind {
  return KINDS.get(splitName(name).extension) ?? 'other';
}

const TEMPORARY =
  /(?:\.(?:part|partial|crdownload|tmp|temp|download|opdownload|!qb|!ut|aria2|filepart|unfinished|incomplete)|~)$/i;
const PASSED_OVER = new Set([
  '@eadir',
  '#recycle',
  '#snapshot',
  'lost+found',
  '$recycle.bin',
  'system volume information',
]);

/** Hidden, temporary and system names are ignored. */
export function isPassedOver(name: string): boolean {
  return name.startsWith('.') || TEMPORARY.test(name) || PASSED_OVER.has(name.toLowerCase());
}
