import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { artworkRules, seesOwner } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { ImageChange } from '../artwork.schemas.ts';
import { choosers, type ImageRow, unchoose } from '../images.store.ts';
import { settlePortraits } from '../portraits/portraits.store.ts';
import { originalOf } from '../serving/bytes.ts';
import { dropVariants } from '../serving/variants.store.ts';
import { settle } from './writing.ts';

/** Sources whose pictures would be found again: their rows stay when a person removes them. */
const FOUND_AGAIN = ['agent', 'local', 'embedded', 'frame', 'mosaic'];

const notArtwork = () => conflict('not-artwork', 'This image is no artwork that can be changed');

/** An image that the caller may change. Throws 404 for one that is hidden, 409 `not-artwork` for a photo and for faces. */
export async function changeableImage({ db, who }: Call, id: string, owners: readonly string[]): Promise<ImageRow> {
  const row = await db('images')
    .where({ id, discarded: false })
    .whereRaw('(expires_at is null or expires_at > now())')
    .first();
  if (!row || !(await seesOwner(db, who, { kind: row.owner_kind, id: row.owner_id }))) throw notFound();
  if (!owners.includes(row.owner_kind) || (await isPhoto(db, row))) throw notArtwork();
  return row;
}

async function isPhoto(db: Call['db'], { owner_kind: kind, owner_id: id, source }: ImageRow): Promise<boolean> {
  if (kind !== 'item' || !['local', 'embedded'].includes(source)) return false;
  return (await db('items').where({ id, type: 'photo' }).first('id')) !== undefined;
}

type Instructions = Pick<ImageRow, 'focus' | 'crop' | 'rotate'>;

function instructed(row: ImageRow, change: ImageChange): Instructions {
  return {
    focus: change.focus === undefined ? row.focus : change.focus,
    crop: change.crop === undefined ? row.crop : change.crop,
    rotate: change.rotate === undefined ? row.rotate : (change.rotate ?? 0),
  };
}

function shownSides(full: { width: number; height: number }, { crop, rotate }: Instructions) {
  const [width, height] = rotate % 180 === 0 ? [full.width, full.height] : [full.height, full.width];
  return {
    width: Math.max(1, Math.round(width * (crop?.width ?? 1))),
    height: Math.max(1, Math.round(height * (crop?.height ?? 1))),
  };
}

/** Columns of an image under new instructions; its looks are read again, because another part of it is shown. */
async function columnsOf(call: Call, row: ImageRow, change: ImageChange) {
  const now = instructed(row, change);
  const { crop, rotate, focus } = now;
  const full = { width: row.full_width ?? row.width, height: row.full_height ?? row.height };
  const whole = crop === null && rotate === 0;
  const sameLooks = JSON.stringify([crop, rotate]) === JSON.stringify([row.crop, row.rotate]);
  return {
    ...{ focus: focus && JSON.stringify(focus), crop: crop && JSON.stringify(crop), rotate },
    ...shownSides(full, now),
    ...{ full_width: whole ? null : full.width, full_height: whole ? null : full.height },
    ...(change.language !== undefined && { language: change.language }),
    ...(sameLooks ? {} : await looksOf(call, row, now)),
  };
}

const SMALL = 64;

async function looksOf(call: Call, image: ImageRow, { crop, rotate }: Instructions) {
  const { pictures } = call.deps;
  const small = await pictures.remake(await originalOf(call, image), {
    ...{ format: 'png', width: SMALL, height: SMALL, fit: 'inside' },
    ...(crop && { crop }),
    ...(rotate !== 0 && { rotate: rotate as 90 | 180 | 270 }),
  });
  const rules = { ...artworkRules, minSide: 1 };
  const { blurhash, dominant, palette } = await pictureOf(pictures, { bytes: small, type: 'image/png' }, { rules });
  return { blurhash, dominant, palette };
}

/** Keeps instructions over the untouched original; the version rises. */
export async function changeImage(call: Call, row: ImageRow, change: ImageChange): Promise<ImageRow> {
  const columns = await columnsOf(call, row, change);
  return call.transact(async (inside) => {
    const [changed] = await inside
      .db('images')
      .where({ id: row.id })
      .update({ ...columns, version: inside.db.raw('version + 1') })
      .returning('*');
    if (!changed) throw notFound();
    await dropVariants(inside.db, row.sha256);
    await settleOwners(inside, changed);
    return changed;
  });
}

/** Takes an image from its owner. Throws 409 `in-use` when something else shows it. */
export async function deleteImageRow(call: Call, row: ImageRow): Promise<void> {
  const { db } = call;
  const usedBy = await choosers(db, row.id, row.owner_id);
  if (usedBy.length > 0) throw conflict('in-use', 'Something else shows this image', { usedBy });
  await unchoose(db, row.owner_id, row.id);
  const here = db('images').where({ id: row.id });
  if (FOUND_AGAIN.includes(row.source)) await here.update({ discarded: true });
  else await here.delete();
  await settleOwners(call, row);
}

/** What the owner shows, and everything else that chose the image. */
async function settleOwners(call: Call, row: ImageRow): Promise<void> {
  const others = await choosers(call.db, row.id, row.owner_id);
  const owners = [{ kind: row.owner_kind, id: row.owner_id }, ...others];
  await settle(
    call,
    owners.filter(({ kind }) => kind === 'item').map(({ id }) => id),
  );
  await settlePortraits(
    call.db,
    owners.filter(({ kind }) => kind === 'person').map(({ id }) => id),
  );
}
