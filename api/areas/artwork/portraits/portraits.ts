import type { z } from 'zod';
import { may, requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { seesOwner } from '#kernel/images.ts';
import type { Image, PortraitChoice, Portraits, PortraitUpload } from '../artwork.schemas.ts';
import { imageAnswer } from '../artwork-set.ts';
import { shownOf } from '../choosing.store.ts';
import { addImage, getImageRow, takeGiven } from '../editing/add-image.ts';
import { fetchGiven } from '../editing/add-to-item.ts';
import { choicesOf, dropChoice, imagesById, keptImages, toImage, writeChoice } from '../images.store.ts';
import type { Taken } from '../intake.ts';
import { personExists, settlePortraits, survivorOf } from './portraits.store.ts';

/** A person that the caller may see. */
interface Portrayed {
  kind: 'person';
  id: string;
}

const KIND = 'portrait';
/** Where faces are. */
const FOCUS = { x: 0.5, y: 1 / 3 };

/** Throws 404 for a person of whom the caller sees no credit; those who edit see everyone. */
export async function getPortrayed({ db, who }: Call, named: string): Promise<Portrayed> {
  const id = await survivorOf(db, named);
  const owner = { kind: 'person' as const, id };
  const visible = (await seesOwner(db, who, owner)) || (may(who, 'item:edit') && (await personExists(db, id)));
  if (!visible) throw notFound();
  return owner;
}

export async function listPortraits(
  call: Call,
  person: Portrayed,
  { candidates }: { candidates: boolean },
): Promise<z.input<typeof Portraits>> {
  const { db, who } = call;
  if (candidates) requirePermission(who, 'item:edit');
  const edits = may(who, 'item:edit');
  const rows = await keptImages(db, person);
  const [shown] = (await shownOf(db, person.id, [KIND])).get(KIND) ?? [];
  const locked = (await choicesOf(db, person.id)).get(KIND)?.locked ?? false;
  const images = rows.map((row) => toImage(row, { selected: row.id === shown, position: 0, locked, edits }));
  const selected = images.find((image) => image.selected);
  return {
    ...(selected && { selected }),
    locked,
    images: images.filter((image) => edits || image.selected).slice(0, 50),
    ...(candidates && { candidates: [], faces: [] }),
  };
}

interface Keeping {
  taken: Taken;
  source: 'upload' | 'url';
  select: boolean;
  sourceUrl?: string;
}

async function keep(call: Call, owner: Portrayed, keeping: Keeping): Promise<string> {
  const { id } = await addImage(call, { ...keeping, owner, kind: KIND, focus: FOCUS });
  await settlePortraits(call.db, [owner.id]);
  return id;
}

export async function uploadPortrait(
  call: Call,
  person: Portrayed,
  body: z.output<typeof PortraitUpload>,
): Promise<Image> {
  const taken = await takeGiven(call, body.file, ['body', 'file']);
  const id = await keep(call, person, { taken, source: 'upload', select: body.select });
  return imageAnswer(call, await getImageRow(call, id));
}

export async function choosePortrait(call: Call, person: Portrayed, choice: PortraitChoice): Promise<Image | null> {
  const { imageId, candidateId, url, faceId, lock } = choice;
  if (candidateId !== undefined || faceId !== undefined) throw notFound();
  if (imageId !== undefined) await requireOwn(call, person, imageId);
  const taken = url === undefined ? undefined : await takeGiven(call, await fetchGiven(call, url), ['body', 'url']);
  return call.transact(async (inside) => {
    const fetched = taken && {
      taken,
      source: 'url' as const,
      select: true,
      ...(url !== undefined && { sourceUrl: url }),
    };
    const id = fetched ? await keep(inside, person, fetched) : imageId;
    await writeChoice(inside.db, { owner: person, kind: KIND, imageIds: id === undefined ? [] : [id], locked: lock });
    await settlePortraits(inside.db, [person.id]);
    inside.reply.status(200);
    return id === undefined ? null : imageAnswer(inside, await getImageRow(inside, id));
  });
}

async function requireOwn({ db }: Call, person: Portrayed, id: string): Promise<void> {
  const [row] = await imagesById(db, [id]);
  if (row?.owner_kind === 'person' && row.owner_id === person.id) return;
  throw invalid(['body', 'imageId'], 'unknown_image', 'no image of this person');
}

export async function resetPortrait({ db }: Call, person: Portrayed): Promise<void> {
  await dropChoice(db, person.id, KIND);
  await settlePortraits(db, [person.id]);
}
