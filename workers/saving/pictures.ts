// The pictures that an item shows, as files next to its media.

import { type ArtworkKind, kindsOf, shownOf } from '#areas/artwork/public.ts';
import { artworkRules } from '#kernel/images.ts';
import { wholeOf } from '#platform/bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { PictureRefused, type Pictures } from '#platform/pictures.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Work } from '../work.ts';
import { isPictureOf, pictureStem } from './names.ts';
import type { SavingItem } from './places.ts';
import type { Outcome, SaveFolder } from './writing.ts';

const COLUMNS = ['id', 'sha256', 'mime', 'source', 'width', 'height', 'alpha', 'rotate', 'crop', 'version'] as const;
type Shown = Pick<Row<'images'>, (typeof COLUMNS)[number]>;

/** Pictures that lie next to the media already, or that Foyer made of others. */
const LEFT_OUT = ['local', 'mosaic', 'generated'];
/** Formats that players read; others are written as one of them. */
const AS_THEY_ARE: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'image/png': 'png' };

/** Writes the shown pictures of an item. A kind that has a picture of somebody else next to the media is left out. */
export async function savePictures(
  { work, pictures }: { work: Work; pictures: Pictures },
  item: SavingItem,
  folder: SaveFolder,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const foreign = folder.foreign();
  for (const [kind, ids] of await shownOf(work.db, item.id, kindsOf(item.type))) {
    const shown = await imagesOf(work, ids);
    const isTaken = foreign.some((name) => isPictureOf(item, folder.place, { kind: kind as ArtworkKind, name }));
    if (isTaken && shown.length > 0) outcomes.push('foreign');
    for (const [at, image] of isTaken ? [] : shown.entries()) {
      const stem = pictureStem(item, folder.place, { kind: kind as ArtworkKind, at });
      if (stem !== undefined) outcomes.push(await saveOne({ work, pictures }, { image, stem, folder }));
    }
  }
  return outcomes;
}

async function imagesOf({ db }: Work, ids: readonly string[]): Promise<Shown[]> {
  if (ids.length === 0) return [];
  const rows: Shown[] = await db('images')
    .whereIn('id', ids)
    .select(...COLUMNS);
  return ids.flatMap((id) => rows.filter((row) => row.id === id && !LEFT_OUT.includes(row.source)));
}

interface One {
  image: Shown;
  stem: string;
  folder: SaveFolder;
}

async function saveOne(
  { work, pictures }: { work: Work; pictures: Pictures },
  { image, stem, folder }: One,
): Promise<Outcome> {
  const extension = isChanged(image) ? undefined : AS_THEY_ARE[image.mime];
  const name = `${stem}.${extension ?? (image.alpha ? 'png' : 'jpg')}`;
  const madeOf = `${image.sha256} ${image.version}`;
  if (folder.isMadeOf(name, madeOf)) return 'same';
  try {
    const original = await wholeOf(await work.objects.get('foyer-artwork', image.sha256));
    const bytes = extension ? original : await madeAgain(pictures, image, original);
    return await folder.write(name, bytes, { madeOf });
  } catch (error) {
    if (error instanceof ObjectMissing || error instanceof PictureRefused) return 'same';
    throw error;
  }
}

const isChanged = ({ rotate, crop }: Shown): boolean => rotate !== 0 || crop !== null;

async function madeAgain(
  pictures: Pictures,
  { alpha, width, height, rotate, crop }: Shown,
  bytes: Buffer,
): Promise<Buffer> {
  const made = await pictures.take(
    { bytes, type: '' },
    { ...artworkRules, minSide: 1 },
    {
      ...{ format: alpha ? 'png' : 'jpeg', width, height, fit: 'inside', quality: 90 },
      ...(rotate !== 0 && { rotate: rotate as 90 | 180 | 270 }),
      ...(crop && { crop }),
    },
  );
  return made.bytes;
}
