// The names of the files of an item, as Kodi, readers of comics and photo programs look for them.
import { type ArtworkKind, fittingKind } from '#areas/artwork/public.ts';
import { isMusicPicture } from '../scan/group/music-pictures.ts';
import { splitName } from '../scan/names/kinds.ts';
import { pictureStems, seasonPicture } from '../scan/names/sidecars.ts';
import type { SavePlace, SavingItem } from './places.ts';

/** Names that the values of an item may have, the one that is written first. */
export function valueNames({ type }: SavingItem, { file, alone }: SavePlace): string[] {
  if (!file) return [`${type === 'show' ? 'tvshow' : type}.nfo`];
  const { stem, name } = file;
  if (type === 'comic') return [alone ? 'ComicInfo.xml' : `${stem}.ComicInfo.xml`];
  if (type === 'photo') return [`${name}.xmp`, `${stem}.xmp`];
  const own = `${stem}.nfo`;
  if (type !== 'movie' || !alone || isDisc(stem)) return [own];
  return ['movie.nfo', own, 'video_ts.nfo'];
}

/** The file of a DVD or Blu-ray folder. */
const isDisc = (stem: string): boolean => /^(?:video_ts|index)$/i.test(stem);

/** Words of Kodi for kinds of pictures. */
const WORDS: Partial<Record<ArtworkKind, string>> = {
  poster: 'poster',
  backdrop: 'fanart',
  thumb: 'landscape',
  logo: 'clearlogo',
  banner: 'banner',
  clearart: 'clearart',
  disc: 'discart',
  still: 'thumb',
  cover: 'cover',
};

/** The name of a picture without its extension; undefined for a kind that has none. */
export function pictureStem(
  item: SavingItem,
  { file, alone }: SavePlace,
  { kind, at }: { kind: ArtworkKind; at: number },
): string | undefined {
  if (isFront(item, kind)) return 'folder';
  const word = WORDS[kind];
  if (word === undefined) return undefined;
  const numbered = at === 0 ? word : `${word}${at}`;
  if (item.type === 'season') return `season${seasonWord(item.index ?? 0)}-${numbered}`;
  if (!file) return numbered;
  return alone && kind !== 'still' ? numbered : `${file.stem}-${numbered}`;
}

/** The cover of an album and the picture of an artist. */
const isFront = ({ type }: SavingItem, kind: ArtworkKind): boolean =>
  (type === 'album' && kind === 'cover') || (type === 'artist' && kind === 'square');

const seasonWord = (index: number): string => (index === 0 ? '-specials' : String(index).padStart(2, '0'));

/** Whether a file in the folder is a picture of this kind of the item, by the rules of the scan. */
export function isPictureOf(
  item: SavingItem,
  { file, alone }: SavePlace,
  { kind, name }: { kind: ArtworkKind; name: string },
): boolean {
  const fits = (word: string): boolean => fittingKind(item.type, word.split(':')[0] ?? '') === kind;
  if (item.type === 'season') {
    const found = seasonPicture(name);
    return found?.season === item.index && fits(found.kind);
  }
  if (isFront(item, kind)) return isMusicPicture(name) && !OTHER_MUSIC.test(splitName(name).stem);
  return pictureStems(name).some(
    ({ stem, kind: word }) => fits(word) && (stem === '' ? alone : stem === file?.stem.toLowerCase()),
  );
}

/** Pictures of music that are no front. */
const OTHER_MUSIC = /^(?:disc|cdart|cd|fanart|backdrop|background|logo|clearlogo)$/i;
