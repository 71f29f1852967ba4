import { getVisibleItem, type StreamRow } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { PictureStretch } from '#platform/subtitles/stretches.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import { type Film, getFilm } from '../film.ts';
import { getSubtitleRow, type TrackIds } from '../sync/sync.ts';

/** A stretch of a picture track, with its film and the correction that holds. Throws 404, and 415 for other tracks. */
export async function pictureTrack(
  call: Call,
  ids: TrackIds,
  { from, to }: { from: number; to: number },
): Promise<{ film: Film; stretch: PictureStretch }> {
  await getVisibleItem(call.db, call.who, ids.id);
  const row = await getSubtitleRow(call, ids);
  refuseOtherTracks(row);
  const film = await getFilm(call, ids.id, row.file_id);
  const sync = await findSync(call.db, row.id);
  if (!sync) throw notFound();
  const { offsetMs, rate, pieces } = sync;
  const stretch = {
    ...{ streamIndex: row.stream_index, fromMs: from, toMs: to },
    ...{ filmVersion: film.version, syncVersion: sync.version },
    timing: { offsetMs, rate, pieces: pieces.map((piece) => ({ ...piece })) },
  };
  return { film, stretch };
}

/** Throws 415 for a track whose pictures are not inside the film, or have another format. */
function refuseOtherTracks({ codec, external_path: path, kept }: StreamRow): void {
  const reason = kept || path !== null ? 'own-file' : 'no-pictures';
  if (reason === 'no-pictures' && ['pgs', 'vobsub'].includes(codec)) return;
  throw new ApiError('MEDIA_UNSUPPORTED_CODEC', 'This subtitle has no pictures inside the film', { reason });
}
