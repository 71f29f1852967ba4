import { getVisibleItem } from '#areas/items/public.ts';
import { may } from '#identity/principal.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { artworkRules } from '#kernel/images.ts';
import type { GivenPicture } from '#platform/pictures.ts';
import { type KeptCandidate, keptCandidate } from '../candidates.ts';
import { tileBytes } from '../serving/bytes.ts';
import { imageHeaders } from '../serving/serve-image.ts';
import { fetchPicture } from './fetch-picture.ts';

const PREVIEW = 480;
const AN_HOUR = 'private, max-age=3600';

/** The picture of a candidate of the item. Throws 404 for one that is unknown or expired, 502 when the catalogue fails. */
export async function candidatePicture(
  call: Call,
  itemId: string,
  id: string,
): Promise<{ candidate: KeptCandidate; given: GivenPicture }> {
  const candidate = await keptCandidate(call.deps.redis, id);
  if (candidate?.itemId !== itemId) throw notFound();
  return { candidate, given: await fetched(call, candidate.url) };
}

function fetched({ deps }: Call, url: string): Promise<GivenPicture> {
  return fetchPicture(deps.catalogues.outbound, url, { path: ['body', 'candidateId'], anyPort: true });
}

/** Sends a small picture of a candidate, so that browsers never call a catalogue. Throws 404. */
export async function servePreview(call: Call, id: string): Promise<Bytes> {
  const candidate = may(call.who, 'item:edit') ? await keptCandidate(call.deps.redis, id) : undefined;
  if (!candidate) throw notFound();
  await getVisibleItem(call.db, call.who, candidate.itemId);
  const body = await tileBytes(call, `candidate:${candidate.previewUrl}`, async () => {
    const given = await fetched(call, candidate.previewUrl);
    const make = { format: 'webp', width: PREVIEW, height: PREVIEW, fit: 'inside', quality: 80 } as const;
    return (await call.deps.pictures.take(given, { ...artworkRules, minSide: 1 }, make)).bytes;
  });
  imageHeaders(call, false);
  call.reply.header('Cache-Control', AN_HOUR);
  return { body, type: 'image/webp', length: body.length };
}
