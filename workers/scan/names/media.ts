import { gameExtensions } from '#platform/game-platforms.ts';
import { pictureExtensions } from '#workers/probe/photos/extensions.ts';
import { kindOf, splitName } from './kinds.ts';

const VIDEO =
  'mkv mp4 m4v mov avi webm ts m2ts mts mpg mpeg mpe m2v vob wmv asf flv f4v ogv ogm divx 3gp 3g2 rm rmvb mk3d dv wtv mxf';
const MUSIC = 'mp3 flac m4a mp4 aac ogg oga opus wav aif aiff aifc wma ape wv dsf mpc mp+ alac';

/** Extensions of the files that become items, by library type. */
const EXTENSIONS: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    ...{ movies: VIDEO, shows: VIDEO, videos: VIDEO, music: MUSIC },
    books: `epub pdf mobi azw azw3 fb2 djvu txt m4b ${MUSIC}`,
    photos: `${pictureExtensions.join(' ')} ${VIDEO}`,
    comics: 'cbz cbr cb7 cbt pdf zip rar 7z',
    games: gameExtensions.join(' '),
    courses: `${VIDEO} ${MUSIC} m4b pdf epub md html htm`,
  }).map(([type, list]) => [type, new Set(list.split(' '))]),
);
const NONE: ReadonlySet<string> = new Set();

/** Whether a file becomes an item, or a version of one, in a library of the type. */
export function isMedia(type: string, name: string): boolean {
  return (EXTENSIONS[type] ?? NONE).has(splitName(name).extension);
}

/** Whether a scan notes the file at all: media, or what may belong to some. */
export function isNoted(type: string, name: string): boolean {
  return kindOf(name) !== 'other' || isMedia(type, name);
}
