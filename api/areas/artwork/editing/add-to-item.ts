import type { z } from 'zod';
import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { insertImage } from '#kernel/images.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { createOutbound } from '#platform/outbound.ts';
import type { ArtworkCapture, ArtworkImport, ArtworkUpload, Image } from '../artwork.schemas.ts';
import { imageAnswer } from '../artwork-set.ts';
import { type ArtworkKind, fittingKind, kindsOf, mainKind } from '../kinds.ts';
import { type Adding, addImage, getImageRow, takeGiven } from './add-image.ts';
import { candidatePicture } from './candidate-picture.ts';
import { capturedFrame } from './capture.ts';
import { fetchPicture } from './fetch-picture.ts';
import { settle } from './writing.ts';

const HOUR_MS = 3_600_000;
const AN_HOUR = 60;
const PREVIEW_MS = 600_000;

/** Throws 400 for a kind that items of this type do not have. */
export function requireFitting(item: VisibleItem, kind: ArtworkKind, path: string[]): void {
  if (!kindsOf(item.type).includes(kind)) throw invalid(path, 'kind_not_fitting', `${item.type} has no ${kind}`);
}

async function add(call: Call, item: VisibleItem, adding: Omit<Adding, 'owner'>): Promise<Image> {
  const row = await addImage(call, { ...adding, owner: { kind: 'item', id: item.id } });
  await settle(call, [item.id]);
  return imageAnswer(call, row);
}

export async function uploadFor(call: Call, item: VisibleItem, body: z.output<typeof ArtworkUpload>): Promise<Image> {
  const { file, kind, language, select } = body;
  requireFitting(item, kind, ['body', 'kind']);
  const taken = await takeGiven(call, file, ['body', 'file']);
  return add(call, item, { kind, language, select, taken, source: 'upload' });
}

/** A picture at an address of a person. Throws 429 after 60 in an hour. */
export async function fetchGiven(call: Call, url: string): Promise<Awaited<ReturnType<typeof fetchPicture>>> {
  const { redis, config } = call.deps;
  const limiter = { redis, replicas: config.replicas, windowMs: HOUR_MS };
  await limitAttempts(limiter, `artwork-url:${call.who.accountId}`, AN_HOUR);
  return fetchPicture(createOutbound({ deny: config.clusterNetworks }), url, { path: ['body', 'url'] });
}

export async function importFor(call: Call, item: VisibleItem, body: z.output<typeof ArtworkImport>): Promise<Image> {
  const { kind, language, select, url, candidateId } = body;
  requireFitting(item, kind, ['body', 'kind']);
  if (url === undefined) return importCandidate(call, item, { kind, language, select, candidateId: candidateId ?? '' });
  const taken = await takeGiven(call, await fetchGiven(call, url), ['body', 'url']);
  return add(call, item, { kind, language, select, taken, source: 'url', sourceUrl: url });
}

interface Import {
  kind: ArtworkKind;
  language: string | undefined;
  select: boolean;
  candidateId: string;
}

async function importCandidate(call: Call, item: VisibleItem, { candidateId, ...more }: Import): Promise<Image> {
  const { candidate, given } = await candidatePicture(call, item.id, candidateId);
  const taken = await takeGiven(call, given, ['body', 'candidateId']);
  const { url: sourceUrl, agent, language = more.language } = candidate;
  return add(call, item, { ...more, language, taken, source: 'agent', sourceUrl, origin: { url: sourceUrl, agent } });
}

/** The middle of a lying picture, 2 by 3. */
function upright({ width, height }: { width: number; height: number }) {
  const part = Math.min(1, (height * 2) / 3 / width);
  return { x: (1 - part) / 2, y: 0, width: part, height: 1 };
}

export async function captureFor(call: Call, item: VisibleItem, body: ArtworkCapture): Promise<Image> {
  const kind = body.kind ?? fittingKind(item.type, 'thumb') ?? mainKind(item.type);
  requireFitting(item, kind, ['body', 'kind']);
  const taken = await capturedFrame(call, item, body);
  const crop = kind === 'poster' ? { crop: upright(taken.picture) } : {};
  if (!body.preview) return add(call, item, { kind, taken, source: 'frame', select: body.select, ...crop });
  call.reply.status(200);
  const id = await insertImage(call.db, {
    ...{ ...taken, ...crop, kind, source: 'frame', owner: { kind: 'item', id: item.id } },
    ...{ byAccountId: call.who.accountId, expiresAt: new Date(Date.now() + PREVIEW_MS) },
  });
  return imageAnswer(call, await getImageRow(call, id));
}
