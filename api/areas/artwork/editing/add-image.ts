import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { artworkRules, type ImageSource, insertImage } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { GivenPicture } from '#platform/pictures.ts';
import { addToChoice, type ImageRow } from '../images.store.ts';
import { type Taken, takeIn } from '../intake.ts';
import { MOST_BACKDROPS, MOST_IMAGES } from '../kinds.ts';

/** Stores a picture of a request; rows follow in a transaction. Throws 400, 415 and 503 as `pictureOf`. */
export function takeGiven(call: Call, given: GivenPicture, path: (string | number)[]): Promise<Taken> {
  const { db, objects, pictures } = call.deps;
  const open = (picture: GivenPicture) => pictureOf(pictures, picture, { rules: artworkRules, path });
  return takeIn({ db, objects, log: call.log, open }, given);
}

export interface Adding {
  owner: { kind: 'item' | 'person'; id: string };
  kind: string;
  source: ImageSource;
  taken: Taken;
  select: boolean;
  language?: string | undefined;
  sourceUrl?: string;
  /** Of a picture of a catalogue: its address and agent, by which a refresh knows it. */
  origin?: { url: string; agent: string };
  focus?: { x: number; y: number };
  crop?: { x: number; y: number; width: number; height: number };
}

/**
 * Keeps a picture as an image of its owner, and shows it with `select`. The same bytes again are the image that is there,
 * with 200. Throws 409 `image-limit`. Locks the owner's images of this kind, so that two requests add one.
 */
export async function addImage(call: Call, adding: Adding): Promise<ImageRow> {
  const { owner, kind, taken, select } = adding;
  const { db } = call;
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 11))', [`${owner.id} ${kind}`]);
  const same = await db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id, kind, sha256: taken.sha256, expires_at: null })
    .first('id', 'discarded');
  if (same) call.reply.status(200);
  const id = same ? same.id : await insertNew(call, adding);
  if (same?.discarded) await db('images').where({ id }).update({ discarded: false });
  if (select) await addToChoice(db, { owner, kind, imageIds: [id] }, kind === 'backdrop' ? MOST_BACKDROPS : 1);
  return getImageRow(call, id);
}

async function insertNew(call: Call, { owner, kind, source, taken, ...more }: Adding): Promise<string> {
  const { db, who } = call;
  const [row] = await db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id, kind, discarded: false, expires_at: null })
    .count({ count: '*' });
  if (Number(row?.count ?? 0) >= MOST_IMAGES) {
    throw conflict('image-limit', `There are ${MOST_IMAGES} images of this kind`, { limit: MOST_IMAGES });
  }
  const { language, sourceUrl, origin, focus, crop } = more;
  return insertImage(db, {
    ...{ ...taken, kind, owner, source, byAccountId: who.accountId },
    ...(language !== undefined && { language }),
    ...(sourceUrl !== undefined && { sourceUrl }),
    ...(origin && { origin }),
    ...(focus && { focus }),
    ...(crop && { crop }),
  });
}

export async function getImageRow({ db }: Pick<Call, 'db'>, id: string): Promise<ImageRow> {
  const row = await db('images').where({ id }).first();
  if (!row) throw notFound();
  return row;
}
