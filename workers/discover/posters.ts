// Pictures of titles: fetched, decoded in the sandbox and encoded again, so that clients contact no provider.
import { createHash } from 'node:crypto';
import {
  endTitles,
  notePosterFailed,
  type PosterWanted,
  postersStored,
  postersWanted,
} from '#areas/discover/public.ts';
import { artworkRules, dropLostImages, insertImage, originalPlace } from '#kernel/images.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { agentOf } from '#platform/agents/index.ts';
import { catalogueOutbound } from '#platform/agents/send.ts';
import { pictureBase } from '#platform/agents/tmdb/index.ts';
import type { Outbound } from '#platform/outbound.ts';
import { createPictures, type MadePicture, PictureRefused, type Pictures } from '#platform/pictures.ts';
import { download } from '../artwork/agents.ts';
import type { Work } from '../work.ts';

/** Pictures of one run. */
const MOST = 1000;
const AT_ONCE = 4;
const LIMIT_MS = 20_000;
const WIDTH = 780;
const HEIGHT = 1170;
/** An object without a row: the row is written right after the object. */
const STRAY_MS = 24 * 3_600_000;

/** Fetches pictures that are wanted; returns the number of those that are kept. */
export async function fetchPosters(
  work: Work,
  catalogues: Catalogues,
  outbound: Outbound = catalogueOutbound(work.config),
): Promise<number> {
  if (await catalogues.closedFor(agentOf('tmdb'))) return 0;
  const base = await pictureBase(catalogues.queryOf(agentOf('tmdb'), { signal: work.signal, limitMs: LIMIT_MS }));
  const pictures = createPictures(work.config.parserUrl);
  const wanted = await postersWanted(work.db, MOST);
  let kept = 0;
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    work.signal.throwIfAborted();
    const some = wanted.slice(at, at + AT_ONCE).map((one) => fetchPoster({ work, pictures, outbound, base }, one));
    kept += (await Promise.all(some)).filter(Boolean).length;
  }
  return kept;
}

interface Fetching {
  work: Work;
  pictures: Pictures;
  outbound: Outbound;
  /** Address of pictures. */
  base: string;
}

async function fetchPoster(
  { work, pictures, outbound, base }: Fetching,
  { id, path, provider }: PosterWanted,
): Promise<boolean> {
  const url = `${base}w780${path}`;
  const bytes = await download(work, outbound, { url, agent: provider });
  const made = bytes && (await encoded(pictures, bytes));
  if (!made) {
    await notePosterFailed(work.db, id);
    return false;
  }
  const sha256 = createHash('sha256').update(made.bytes).digest('hex');
  const { bucket, key } = originalPlace({ owner_kind: 'title', sha256 });
  await work.objects.put(bucket, key, made.bytes);
  await insertImage(work.db, {
    ...{
      kind: 'poster',
      owner: { kind: 'title', id },
      source: 'agent',
      sha256,
      mime: made.type,
      sizeBytes: made.bytes.length,
    },
    ...{ picture: made, byAccountId: null, sourceUrl: url },
  });
  return true;
}

/** Undefined for bytes that are no picture. */
async function encoded(pictures: Pictures, bytes: Buffer): Promise<MadePicture | undefined> {
  try {
    const make = { format: 'webp', width: WIDTH, height: HEIGHT, fit: 'inside', quality: 85 } as const;
    const made = await pictures.take({ bytes, type: '' }, artworkRules, make);
    const scale = Math.min(1, WIDTH / made.width, HEIGHT / made.height);
    return {
      ...made,
      width: Math.round(made.width * scale),
      height: Math.round(made.height * scale),
      type: 'image/webp',
    };
  } catch (error) {
    if (error instanceof PictureRefused) return undefined;
    throw error;
  }
}

/** Forgets titles that were not used for long, objects without a row, and rows whose object is gone, as after a restore. */
export async function trimPosters({ db, objects, signal }: Work): Promise<void> {
  await endTitles(db);
  const { bucket, key: prefix } = originalPlace({ owner_kind: 'title', sha256: '' });
  const rows = await postersStored(db);
  const there = new Set<string>();
  for await (const { key, modifiedAt } of objects.list(bucket, prefix)) {
    signal.throwIfAborted();
    const sha256 = key.slice(prefix.length);
    there.add(sha256);
    if (!rows.has(sha256) && modifiedAt.getTime() < Date.now() - STRAY_MS) await objects.remove(bucket, [key]);
  }
  await dropLostImages(
    db,
    'title',
    [...rows].filter((sha256) => !there.has(sha256)),
  );
}
