import {
  type ArtworkKind,
  dropFound,
  fittingKind,
  foundImages,
  insertFound,
  kindsOf,
  mainKind,
  type Pending,
  type Stage,
  shownOf,
  takeIn,
} from '#areas/artwork/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { artworkRules } from '#kernel/images.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { createPictures, type MadePicture, PictureRefused } from '#platform/pictures.ts';
import { FinalFailure, type Work } from '../work.ts';
import { workThrough } from './batches.ts';
import { accepted } from './fetch.ts';
import { firstFile, openFile, type PicturedItem } from './local.ts';
import { makeCollectionMosaic, makeLibraryMosaic, makeMosaic } from './mosaic.ts';
import { type Fetching, picturedItem } from './pictured.ts';
import { Settling } from './settle.ts';
import { filmStream, frameOf, type Source } from './still.ts';

/** Items at once: each decodes one keyframe. */
const AT_ONCE = 2;
/** Parts of the film at which a frame is looked for, the preferred one first. */
const POSITIONS = [0.2, 0.35, 0.5, 0.1];
/** Of 255: below them a frame is dark or flat. */
const DARK = 28;
const FLAT = 12;

/** Frames of films that have no picture, and then mosaics; or the mosaic of a collection; or one frame that a person waits for. */
export async function makeFrames(
  { libraryId, collectionId, capture }: JobPayload<'artwork.frames'>,
  work: Work,
): Promise<object> {
  const pictures = createPictures(work.config.parserUrl);
  const fetching: Fetching = { work, pictures, settling: new Settling(work) };
  if (capture) return captureFrame(fetching, capture);
  if (collectionId !== undefined) return makeCollectionMosaic(fetching, collectionId);
  const each = (pending: Pending): Promise<Stage | undefined> =>
    pending.stage === 'frames' ? frameFor(fetching, pending) : makeMosaic(fetching, pending);
  const made = await workThrough(work, { libraryId, stages: ['frames'], width: AT_ONCE, each });
  const mosaics = await workThrough(work, { libraryId, stages: ['mosaic'], width: AT_ONCE, each });
  if (libraryId !== undefined) await makeLibraryMosaic(fetching, libraryId);
  return { made: made + mosaics };
}

async function frameFor(fetching: Fetching, { itemId }: Pending): Promise<Stage | undefined> {
  const { work, settling } = fetching;
  const item = await picturedItem(work, itemId);
  const file = item && (await firstFile(work, itemId));
  if (!item || !file?.probe || !filmStream(file.probe)) return undefined;
  const kinds = await kindsToMake(work, item);
  const origin = { fileId: file.id, modifiedMs: file.modified_ms };
  const rows = await foundImages(work.db, itemId, ['frame']);
  const absolute = kinds.length > 0 ? await openFile(work, file) : undefined;
  const frame = absolute && (await goodFrame(fetching, { file: absolute, probe: file.probe }));
  if (!frame) return undefined;
  await work.db.transaction(async (db) => {
    await dropFound(
      db,
      rows.filter(({ kind, discarded }) => !discarded && kinds.includes(kind as ArtworkKind)).map(({ id }) => id),
    );
    for (const kind of kinds) {
      const crop = kind === 'poster' ? uprightPart(frame.picture) : undefined;
      await insertFound(db, itemId, { source: 'frame', kind, origin, taken: frame, ...(crop && { crop }) });
    }
    await settling.settle(db, [itemId]);
  });
  return undefined;
}

/** Kinds that a frame can fill and that have no picture; one that a person removed is not made again. */
async function kindsToMake({ db }: Work, { id, type }: PicturedItem): Promise<ArtworkKind[]> {
  const kinds = [...new Set([mainKind(type), fittingKind(type, 'thumb'), 'backdrop' as const])].filter(
    (kind) => kind !== undefined && kindsOf(type).includes(kind),
  ) as ArtworkKind[];
  const shown = await shownOf(db, id, kinds);
  const discarded = new Set(
    (await foundImages(db, id, ['frame'])).filter((row) => row.discarded).map((row) => row.kind),
  );
  return kinds.filter((kind) => (shown.get(kind) ?? []).length === 0 && !discarded.has(kind));
}

/** The middle of a lying picture, 2 by 3. */
export function uprightPart({ width, height }: { width: number; height: number }) {
  const part = Math.min(1, (height * 2) / 3 / width);
  return { x: (1 - part) / 2, y: 0, width: part, height: 1 };
}

/** A frame that is neither dark nor flat; undefined when all tried ones are. */
async function goodFrame({ work, pictures }: Fetching, source: Source) {
  const { durationMs } = source.probe;
  for (const part of POSITIONS) {
    const bytes = await frameOf(source, { positionMs: Math.floor(durationMs * part), key: true }, work.signal);
    const picture = bytes && (await looked(() => pictures.take({ bytes, type: '' }, artworkRules)));
    if (!bytes || !picture || picture.brightness < DARK || picture.contrast < FLAT) continue;
    return takeIn({ ...work, open: async () => picture }, { bytes, type: '' });
  }
  return undefined;
}

async function looked(take: () => Promise<MadePicture>): Promise<MadePicture | undefined> {
  try {
    return await take();
  } catch (error) {
    if (error instanceof PictureRefused) return undefined;
    throw error;
  }
}

/** Stores the exact frame and returns what its row needs; the API writes the row. */
async function captureFrame(
  { work, pictures }: Fetching,
  { fileId, positionMs }: NonNullable<JobPayload<'artwork.frames'>['capture']>,
): Promise<object> {
  const file = await findSource(work.db, fileId);
  if (!file?.probe) throw new FinalFailure('MEDIA_NOT_PLAYABLE', 'The file cannot be read');
  const place = await openMedia(work, file);
  if (place.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'The file is not to be reached');
  const bytes = await frameOf({ file: place.absolute, probe: file.probe }, { positionMs, key: false }, work.signal);
  const taken = bytes && (await accepted({ work, pictures }, bytes));
  if (!taken) throw new FinalFailure('MEDIA_NOT_PLAYABLE', 'There is no frame at this position');
  return { taken };
}
