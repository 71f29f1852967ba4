import type { Call } from '#kernel/endpoint.ts';

/** A picture of a collection is made again at most this often. */
const AT_MOST_MS = 600_000;

/** Has a picture of the first items made, unless a person chose a poster. */
export async function queueMosaic(
  { db, now, enqueue }: Pick<Call, 'db' | 'now' | 'enqueue'>,
  id: string,
): Promise<void> {
  const row = await db('collections').where({ id, kind: 'manual', poster_image_id: null }).first('id');
  if (!row) return;
  const last = await db('images').where({ owner_kind: 'collection', owner_id: id, source: 'mosaic' }).first('origin');
  const at = last?.origin?.['at'];
  const made = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  const runAt = Number.isNaN(made) ? now : new Date(Math.max(now.getTime(), made + AT_MOST_MS));
  await enqueue('artwork.frames', { collectionId: id }, { key: `artwork.mosaic:${id}`, runAt });
}
