import {
  dropFound,
  type Found,
  type FoundRow,
  fittingKind,
  foundImages,
  insertFound,
  mainKind,
  type Pending,
  replaceFound,
  type Stage,
  shownOf,
  type Taken,
  takeIn,
} from '#areas/artwork/public.ts';
import { artworkRules, keepOriginal } from '#kernel/images.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Outbound } from '#platform/outbound.ts';
import { createPictures, PictureRefused, type Pictures } from '#platform/pictures.ts';
import type { Work } from '../work.ts';
import { agentPlaces } from './agents.ts';
import { workThrough } from './batches.ts';
import {
  embeddedPlaces,
  firstFile,
  localPlaces,
  type PicturedItem,
  type PicturePlace,
  sameOrigin,
  samePlace,
} from './local.ts';
import { makeLibraryMosaic } from './mosaic.ts';
import { type Fetching, picturedItem } from './pictured.ts';
import { queueFrames } from './queue.ts';
import { Settling } from './settle.ts';

const AT_ONCE = 8;

/**
 * Copies pictures next to films, inside them and of catalogues into the store, for every item that a scan or a refresh
 * changed. `outbound` is for tests.
 */
export const createFetchArtwork =
  (outbound?: Outbound) =>
  async ({ libraryId }: JobPayload<'artwork.fetch'>, work: Work): Promise<object> => {
    const pictures = createPictures(work.config.parserUrl);
    const fetching = { work, pictures, settling: new Settling(work), ...(outbound && { outbound }) };
    try {
      const each = (pending: Pending): Promise<Stage | undefined> => fetchOne(fetching, pending);
      const fetched = await workThrough(work, { libraryId, stages: ['fetch'], width: AT_ONCE, each });
      if (libraryId !== undefined) await makeLibraryMosaic(fetching, libraryId);
      return { fetched };
    } finally {
      await queueFrames(work, libraryId); // also while other items wait
    }
  };

export const fetchArtwork = createFetchArtwork();

/** Rows to write for one item. */
interface Plan {
  inserts: Found[];
  replacements: { row: FoundRow; found: Found }[];
  gone: string[];
}

async function fetchOne(fetching: Fetching, { itemId }: Pending): Promise<Stage | undefined> {
  const { work, settling } = fetching;
  const item = await picturedItem(work, itemId);
  if (!item) return undefined;
  const file = await firstFile(work, itemId);
  const own = [...localPlaces(work, item), ...embeddedPlaces(work, item, file)];
  const places = [...own, ...(await agentPlaces(work, item, fetching.outbound))];
  const known = await foundImages(work.db, itemId, ['local', 'embedded', 'agent']);
  const plan = await planOf(fetching, places, known.filter(isOwn));
  await work.db.transaction(async (db) => {
    for (const found of plan.inserts) await insertFound(db, itemId, found);
    for (const { row, found } of plan.replacements) await replaceFound(db, row, found);
    await dropFound(db, plan.gone);
    await settling.settle(db, [itemId]);
  });
  return nextStage(work, item);
}

/** The logos of channels come and go with their tuners and guides. */
const isOwn = ({ origin }: FoundRow): boolean => origin?.['agent'] !== 'live';

/** Reads only what no row has yet. */
async function planOf(fetching: Fetching, places: readonly PicturePlace[], rows: readonly FoundRow[]): Promise<Plan> {
  const plan: Plan = { inserts: [], replacements: [], gone: [] };
  const kept = new Set<string>();
  for (const place of places) {
    const same = rows.find((row) => samePlace(row, place) && row.kind === place.kind);
    const row = same ?? rows.find((one) => sameOrigin(one, place) && !kept.has(one.id));
    if (row) kept.add(row.id);
    if (same) continue;
    const found = await foundAt(fetching, place);
    if (row && found) plan.replacements.push({ row, found });
    else if (found) plan.inserts.push(found);
  }
  plan.gone = rows.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
  return plan;
}

/** The stored picture of a place; undefined for bytes that are no picture. */
async function foundAt({ work, pictures }: Fetching, place: PicturePlace): Promise<Found | undefined> {
  const { source, kind, origin, sourceUrl, language } = place;
  const bytes = await place.read();
  const taken = bytes && (await accepted({ work, pictures }, bytes, place.reduced));
  const more = { ...(sourceUrl !== undefined && { sourceUrl }), ...(language !== undefined && { language }) };
  return taken && { source, kind, origin, taken, ...more };
}

/** Side of the pictures that are kept of photos; the photo itself stays in its folder. */
const REDUCED = 2560;

async function takeReduced(work: Work, pictures: Pictures, bytes: Buffer): Promise<Taken> {
  const make = { format: 'webp', width: REDUCED, height: REDUCED, fit: 'inside', quality: 85 } as const;
  const made = await pictures.take({ bytes, type: '' }, { ...artworkRules, minSide: 1 }, make);
  const sha256 = await keepOriginal(work, made.bytes);
  const scale = Math.min(1, REDUCED / Math.max(made.width, made.height));
  const sides = { width: Math.round(made.width * scale), height: Math.round(made.height * scale) };
  return { sha256, mime: 'image/webp', sizeBytes: made.bytes.length, picture: { ...made, ...sides } };
}

/** Undefined for bytes that are no picture, or none of the sizes that are kept. */
export async function accepted(
  { work, pictures }: Pick<Fetching, 'work' | 'pictures'>,
  bytes: Buffer,
  reduced = false,
): Promise<Taken | undefined> {
  try {
    if (reduced) return await takeReduced(work, pictures, bytes);
    return await takeIn({ ...work, open: (given) => pictures.take(given, artworkRules) }, { bytes, type: '' });
  } catch (error) {
    if (!(error instanceof PictureRefused)) throw error;
    work.log.debug({ reason: error.reason }, 'a picture next to or in a file is not used');
    return undefined;
  }
}

/** Without a picture for its card, a film gets a frame and a container a mosaic. */
async function nextStage(work: Work, { id, type }: PicturedItem): Promise<Stage | undefined> {
  const needed = [...new Set([mainKind(type), fittingKind(type, 'thumb') ?? mainKind(type)])];
  const shown = await shownOf(work.db, id, needed);
  if (needed.every((kind) => (shown.get(kind) ?? []).length > 0)) return undefined;
  if (await firstFile(work, id)) return 'frames';
  return type === 'season' ? undefined : 'mosaic';
}
