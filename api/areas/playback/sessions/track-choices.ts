import { findStreamRows, type VisibleItem } from '#areas/items/public.ts';
import type { SessionRow } from '#areas/viewing/public.ts';
import type { Db } from '#platform/db.ts';
import type { SubtitlePlan } from '../decision/candidates.ts';
import { showOf } from '../decision/choose.ts';
import { isPicture } from '../decision/subtitle-plan.ts';
import type { Track } from '../decision/tracks.ts';
import { toTrack } from './start.view.ts';

/** Tracks that a client names; absent ones say nothing, null is no subtitle. */
interface Named {
  audioStreamId?: string | undefined;
  subtitleStreamId?: string | null | undefined;
}

interface Remembering {
  profileId: string;
  item: VisibleItem;
  /** Of the file that is played. */
  tracks: readonly Track[];
  named: Named;
}

/** What is named of the file's tracks is the profile's choice for the whole show. */
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
 * A player that changes tracks by itself tells so in its reports: remembered like a choice made here. The decision with
 * them; nothing when they are what is known, or no tracks of the file.
 */
export async function takeTracks(
  db: Db,
  row: SessionRow,
  { item, named }: Pick<Remembering, 'item' | 'named'>,
): Promise<SessionRow['decision'] | undefined> {
  const news = newsIn(row, named);
  if (Object.keys(news).length === 0) return undefined;
  const tracks = (await findStreamRows(db, [row.file_id])).map(toTrack);
  const has = (id: string | null | undefined, kind: string): boolean =>
    id === null || tracks.some((track) => track.kind === kind && track.id === id);
  const told: Named = {
    ...(has(news.audioStreamId, 'audio') && { audioStreamId: news.audioStreamId }),
    ...(has(news.subtitleStreamId, 'subtitle') && { subtitleStreamId: news.subtitleStreamId }),
  };
  await rememberTracks(db, { profileId: row.profile_id, item, tracks, named: told });
  const subtitle = tracks.find((track) => track.id === told.subtitleStreamId);
  return decisionWith(row, { told, subtitle });
}

/** What is named and not known. */
function newsIn(row: SessionRow, { audioStreamId, subtitleStreamId }: Named): Named {
  const known = row.decision as { audio?: { streamId: string }; subtitle?: { streamId: string } };
  const text = known.subtitle?.streamId ?? null;
  return {
    ...(audioStreamId !== undefined && audioStreamId !== known.audio?.streamId && { audioStreamId }),
    ...(subtitleStreamId !== undefined && subtitleStreamId !== text && { subtitleStreamId }),
  };
}

function decisionWith(
  { decision, method }: SessionRow,
  { told, subtitle }: { told: Named; subtitle: Track | undefined },
): SessionRow['decision'] {
  const { audio, subtitle: before, ...rest } = decision as { audio?: object; subtitle?: object };
  const sound = told.audioStreamId === undefined ? audio : { ...audio, streamId: told.audioStreamId };
  const text = subtitle && { streamId: subtitle.id, delivery: deliveryOf(subtitle, method) };
  const words = told.subtitleStreamId === undefined ? before : text;
  return { ...rest, ...(sound && { audio: sound }), ...(words && { subtitle: words }) };
}

function deliveryOf(subtitle: Track, method: SessionRow['method']): SubtitlePlan['delivery'] {
  if (isPicture(subtitle)) return 'pictures';
  return method === 'direct_play' ? 'sidecar' : 'hls';
}
