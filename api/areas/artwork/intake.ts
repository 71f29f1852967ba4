import { createHash } from 'node:crypto';
import { type ImageFacts, keepOriginal } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { GivenPicture, MadePicture } from '#platform/pictures.ts';

/** A picture whose bytes are kept. */
export interface Taken {
  sha256: string;
  mime: string;
  sizeBytes: number;
  picture: ImageFacts;
}

interface Intake {
  db: Db;
  objects: Objects;
  log: Log;
  /** Opens the picture in the sandbox; throws when it is none. */
  open: (given: GivenPicture) => Promise<MadePicture>;
}

/** Stores a picture under its hash. A picture that is stored already is not opened again. Throws what `open` throws. */
export async function takeIn(intake: Intake, given: GivenPicture): Promise<Taken> {
  const sha256 = createHash('sha256').update(given.bytes).digest('hex');
  const known = await knownFacts(intake.db, sha256);
  if (known && (await intake.objects.stat('foyer-artwork', sha256))) return known;
  const picture = await intake.open(given);
  await keepOriginal(intake, given.bytes);
  return { sha256, mime: picture.type, sizeBytes: given.bytes.length, picture };
}

/** What an earlier row says about the same bytes, which were accepted by the same rules. */
async function knownFacts(db: Db, sha256: string): Promise<Taken | undefined> {
  const row = await db('images')
    .where({ sha256 })
    .whereIn('owner_kind', ['item', 'person'])
    .first(
      ...(['mime', 'size_bytes', 'width', 'height', 'full_width', 'full_height', 'blurhash', 'dominant'] as const),
      ...(['palette', 'alpha', 'animated'] as const),
    );
  if (!row) return undefined;
  const { blurhash, dominant, palette, alpha, animated } = row;
  const sides = { width: row.full_width ?? row.width, height: row.full_height ?? row.height };
  const picture = { ...sides, blurhash, dominant, palette, alpha, frames: animated ? 2 : 1 };
  return { sha256, mime: row.mime, sizeBytes: row.size_bytes, picture };
}
