import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { Upload } from '#kernel/uploads.ts';
import type { Kind, Scheme } from './branding.schemas.ts';
import { replaceLogo, writeTexts } from './branding.store.ts';
import { BUCKET, keyOf } from './bytes.ts';
import { changing, refuseManaged } from './change.ts';
import { factsOf, intakeOf, sha256 } from './logo-intake.ts';
import { brandOf } from './memory.ts';

interface Place {
  kind: Kind;
  scheme: Scheme;
}

const fieldOf = ({ kind, scheme }: Place): string => `logos.${kind}.${scheme}`;
const altOf = (kind: Kind) => (kind === 'main' ? 'alt_main' : 'alt_loading');

/** Sets the logo of the place; uploading the same bytes again changes nothing. */
export async function setLogo(
  call: Call,
  place: Place,
  given: { upload: Upload; alt: string | undefined },
): Promise<void> {
  const { upload, alt } = given;
  refuseManaged(call, await brandOf(call.deps).current(), [fieldOf(place)]);
  const { rules, make } = intakeOf(place.kind);
  const picture = await pictureOf(call.deps.pictures, upload, { rules, make });
  const facts = factsOf(picture, upload.bytes);
  await changing(call, async ({ db, who }, row) => {
    const there = await db('branding_logos').where(place).whereNull('replaced_at').first('original');
    const named = alt !== undefined && alt !== row[altOf(place.kind)];
    const same = there?.original === sha256(upload.bytes);
    if (!same) {
      await kept(call, facts.original, upload.bytes); // under the row's lock, so that the sweep deletes none of them
      await kept(call, facts.made, picture.bytes);
      const size = { mime: picture.type, size_bytes: upload.bytes.length, created_by: who.accountId };
      await replaceLogo(db, place, { ...place, ...facts, ...size });
    }
    if (!same || named) await writeTexts(db, named ? { [altOf(place.kind)]: alt } : {});
    return [...(same ? [] : ['logos']), ...(named ? ['alt'] : [])];
  });
}

async function kept({ deps }: Call, hash: string, bytes: Buffer): Promise<void> {
  try {
    await deps.objects.put(BUCKET, keyOf(hash), bytes);
  } catch (error) {
    deps.log.warn({ err: (error as Error).message }, 'branding: a logo cannot be kept');
    throw new ApiError('SERVICE_STARTING', 'The object store is unavailable', { waitingFor: 'objects' });
  }
}

/** Removes the logo of the place, so that the other scheme's or the built-in one serves. Idempotent. */
export async function removeLogo(call: Call, place: Place): Promise<void> {
  refuseManaged(call, await brandOf(call.deps).current(), [fieldOf(place)]);
  await changing(call, async ({ db }) => {
    if (!(await replaceLogo(db, place))) return [];
    await writeTexts(db, {});
    return ['logos'];
  });
}
