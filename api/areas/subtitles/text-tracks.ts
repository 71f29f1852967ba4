import { findStreamRows, type StreamRow, subtitleFileName } from '#areas/items/public.ts';
import { keptKey, openSidecar, TEXT_CODECS, textTrackKey } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { firstBytes } from '#platform/bytes.ts';
import { readMedia } from '#platform/media-bytes.ts';
import { extracted } from './extracted.ts';
import type { Film } from './film.ts';

/** Limit of a sidecar file; a larger file is no subtitle. */
const LARGEST = 20 * 2 ** 20;

/**
 * A subtitle track by its index, by the bare name of its sidecar file, or by the name of a kept text. Throws 404, and 415 for picture-based tracks.
 */
export async function findTextTrack({ db }: Call, film: Film, file: string): Promise<StreamRow> {
  const rows = (await findStreamRows(db, [film.fileId])).filter((row) => row.kind === 'subtitle');
  const row =
    rows.find((one) => one.external_path && subtitleFileName(one) === file) ??
    rows.find((one) => subtitleFileName(one) === file);
  if (!row) throw notFound();
  if (TEXT_CODECS.includes(row.codec)) return row;
  throw new ApiError('MEDIA_UNSUPPORTED_CODEC', 'This subtitle has no text', { reason: 'pictures' });
}

/** The bytes of a track: SubRip, WebVTT or SubStation. */
export async function readTrack(call: Call, film: Film, track: StreamRow): Promise<Uint8Array> {
  if (track.kept) return keptText(call, track);
  if (!track.external_path) return extracted(call, film, textTrackKey(film, track.stream_index));
  const file = await openSidecar(call, { fileId: film.fileId, path: track.external_path });
  return file.size > LARGEST ? new Uint8Array() : readMedia(file.absolute);
}

async function keptText({ db, deps }: Call, track: StreamRow): Promise<Uint8Array> {
  const row = await db('kept_subtitles').where({ stream_id: track.id }).first('sha256');
  if (!row) throw notFound();
  return firstBytes(await deps.objects.get('foyer-subtitles', keptKey(row.sha256)), LARGEST);
}

/** The language that decides how a sidecar is decoded. Extracted tracks are always UTF-8. */
export function languageOf(track: StreamRow): string | null {
  return track.external_path ? track.language : null;
}
