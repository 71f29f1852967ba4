import { findStreamRows, type VisibleItem } from '#areas/items/public.ts';
import type { SessionRow } from '#areas/viewing/public.ts';
import type { Db } from '#platform/db.ts';
import type { SubtitlePlan } from '../decision/candidates.ts';
import { showOf } from '../decision/choose.ts';
import { isPicture } from '../decision/subtitle-plan.ts';
import type { Track } from '../decision/tracks.ts';
import { toTrack } from './start.view.ts';

/** Tracks in a request; absent is no choice, null is no subtitle. */
interface Named {
  audioStreamId?: string | undefined;
  subtitleStreamId?: string | null | undefined;
}

interface Remembering {
  profileId: string;
  item: VisibleItem;
  /** Tracks of the playing file. */
  tracks: readonly Track[];
  named: Named;
}

/** Stores the named tracks as the profile's choice for the whole show. */
export async function rememberTracks(db: Db, { profileId, item, tracks, named }: Remembering): Promise<void> {
  const language = (id: string | null): string | null => tracks.find((track) => track.id === id)?.language ?? null;
  const chosen = {
    ...(named.audioStreamId !== undefined && { audio_language: language(named.audioStreamId) }),
    ...(named.subtitleStreamId !== undefined && {
      subtitle_language: language(named.subtitleStreamId),
      subtitle_off: named.subtitleStreamId === null,
    }),
  };
  if (Object.keys(chosen).length === 0) return;
  await db('track_choices')
    .insert({ profile_id: profileId, item_id: showOf(item), ...chosen, updated_at: new Date() })
    .onConflict(['profile_id', 'item_id'])
    .merge();
}

/**
 * Stores tracks that a player changed by itself and reports. Returns the new decision, or undefined when the tracks are
 * unchanged or not in the file.
 */
export async function takeTracks(
  db: Db,
  row: SessionRow,
  { item, named }: Pick<Remembering, 'item' | 'named'>,
): Promise<SessionRow['decision'] | undefined> {
  const news = changedTracks(row, named);
  if (Object.keys(news).length === 0) return undefined;
  const tracks = (await findStreamRows(db, [row.file_id])).map(toTrack);
  const has = (id: string | null | undefined, kind: string): boolean =>
    id === null || tracks.some((track) => track.kind === kind && track.id === id);
  const reported: Named = {
    ...(has(news.audioStreamId, 'audio') && { audioStreamId: news.audioStreamId }),
    ...(has(news.subtitleStreamId, 'subtitle') && { subtitleStreamId: news.subtitleStreamId }),
  };
  await rememberTracks(db, { profileId: row.profile_id, item, tracks, named: reported });
  const subtitle = tracks.find((track) => track.id === reported.subtitleStreamId);
  return decisionWith(row, { reported, subtitle });
}

/** The named tracks that differ from the decision. */
function changedTracks(row: SessionRow, { audioStreamId, subtitleStreamId }: Named): Named {
  const known = row.decision as { audio?: { streamId: string }; subtitle?: { streamId: string } };
  const text = known.subtitle?.streamId ?? null;
  return {
    ...(audioStreamId !== undefined && audioStreamId !== known.audio?.streamId && { audioStreamId }),
    ...(subtitleStreamId !== undefined && subtitleStreamId !== text && { subtitleStreamId }),
  };
}

function decisionWith(
  { decision, method }: SessionRow,
  { reported, subtitle }: { reported: Named; subtitle: Track | undefined },
): SessionRow['decision'] {
  const { audio, subtitle: before, ...rest } = decision as { audio?: object; subtitle?: object };
  const sound = reported.audioStreamId === undefined ? audio : { ...audio, streamId: reported.audioStreamId };
  const text = subtitle && { streamId: subtitle.id, delivery: deliveryOf(subtitle, method) };
  const words = reported.subtitleStreamId === undefined ? before : text;
  return { ...rest, ...(sound && { audio: sound }), ...(words && { subtitle: words }) };
}

function deliveryOf(subtitle: Track, method: SessionRow['method']): SubtitlePlan['delivery'] {
  if (isPicture(subtitle)) return 'pictures';
  return method === 'direct_play' ? 'sidecar' : 'hls';
}
