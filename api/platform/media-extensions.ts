import { gameExtensions } from './game-platforms.ts';

/** Extensions of the files that become items, by the base of a library's type. Only added to. */

const VIDEO =
  'mkv mp4 m4v mov avi webm ts m2ts mts mpg mpeg mpe m2v vob wmv asf flv f4v ogv ogm divx 3gp 3g2 rm rmvb mk3d dv wtv mxf';
const MUSIC = 'mp3 flac m4a mp4 aac ogg oga opus wav aif aiff aifc wma ape wv dsf mpc mp+ alac';
const SHOWN = ['jpg', 'jpeg', 'heic', 'heif', 'png', 'webp', 'avif', 'gif', 'tif', 'tiff', 'bmp', 'jxl'];

export const rawExtensions: readonly string[] = ['dng', 'cr2', 'cr3', 'nef', 'arw', 'orf', 'rw2', 'raf', 'pef', 'srw'];

/** Extensions of pictures in libraries of photos; of several files of one photo, the one that stands first is shown. */
export const pictureExtensions: readonly string[] = [...SHOWN, ...rawExtensions];

const lists: Readonly<Record<string, string>> = {
  ...{ movies: VIDEO, shows: VIDEO, videos: VIDEO, livetv: VIDEO, music: MUSIC },
  books: `epub pdf mobi azw azw3 fb2 djvu txt m4b ${MUSIC}`,
  photos: `${pictureExtensions.join(' ')} ${VIDEO}`,
  comics: 'cbz cbr cb7 cbt pdf zip rar 7z',
  games: gameExtensions.join(' '),
  courses: `${VIDEO} ${MUSIC} m4b pdf epub md html htm`,
};
const sets = new Map(Object.entries(lists).map(([base, list]) => [base, new Set(list.split(' '))]));
const NONE: ReadonlySet<string> = new Set();

/** Extensions in lower case; libraries of plain files take every extension, so their set is empty. */
export function extensionsOf(base: string): ReadonlySet<string> {
  return sets.get(base) ?? NONE;
}
