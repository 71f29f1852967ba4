import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import type { StartPlayback } from '../playback.schemas.ts';
import { readPreferences } from '../progress/preferences.ts';
import type { PlaybackPreferences } from '../progress/progress.schemas.ts';
import { lastChoice, originalLanguage, playableFiles } from '../sessions/start.view.ts';
import type { CandidateFile, DecisionInput, Outcome } from './candidates.ts';
import { limitsFrom } from './limits.ts';
import type { Profile } from './profiles.ts';
import type { TrackOptions } from './tracks.ts';
import { readUnread } from './unread.ts';
import { decideAnyhow, type Warning } from './warnings.ts';

export type Wishes = Pick<
  StartPlayback,
  'fileId' | 'audioStreamId' | 'subtitleStreamId' | 'quality' | 'maxBitrate' | 'allow'
> & {
  /** The file that the position lies in, where playing goes on from it. */
  resumed?: string | undefined;
};

export interface Choice extends Outcome {
  files: CandidateFile[];
  preferences: PlaybackPreferences;
  warnings: Warning[];
}

interface Ask {
  wishes: Wishes;
  profile: Profile;
}

/** The decision for an item and a wish. Throws the 415s and 423 of startPlayback. */
export async function choose(call: Call, item: VisibleItem, ask: Ask): Promise<Choice> {
  const { db, who, deps } = call;
  const { wishes } = ask;
  await readUnread(call, item.id, wishes.fileId);
  const files = await playableFiles(call, item.id, wishes);
  const able = withNamedTracks(files, wishes);
  const preferences = await readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  const input = inputOf(call, ask, { preferences, tracks: await trackWish(call, { item, wishes, preferences }) });
  const { outcome, warnings } = decideAnyhow(able, input);
  if ('refused' in outcome) {
    throw new ApiError('MEDIA_TRANSCODE_DISABLED', 'Only a transcode would do, and it is refused', {
      reasons: outcome.refused,
    });
  }
  return { ...outcome, files, preferences, warnings };
}

async function trackWish(
  { db, who }: Call,
  { item, wishes, preferences }: { item: VisibleItem; wishes: Wishes; preferences: PlaybackPreferences },
): Promise<TrackOptions> {
  const { audioStreamId, subtitleStreamId } = wishes;
  const last = preferences.rememberTracks ? await lastChoice(db, who.profileId, showOf(item)) : undefined;
  const original = preferences.preferOriginalAudio ? await originalLanguage(db, item) : undefined;
  return { ...preferences, audioStreamId, subtitleStreamId, last, originalLanguage: original };
}

function inputOf(
  { who, client, deps }: Call,
  { wishes, profile }: Ask,
  { preferences, tracks }: { preferences: PlaybackPreferences; tracks: TrackOptions },
): DecisionInput {
  const ladder = deps.settings.get('playback.ladder');
  const named = wishes.quality;
  if (named !== undefined && !['auto', 'original'].includes(named) && !ladder.some((rung) => rung.id === named)) {
    throw invalid(['body', 'quality'], 'unknown_quality', 'auto, original or a ladder id');
  }
  return {
    profile: { ...profile, maxAudioChannels: Math.min(profile.maxAudioChannels ?? 16, preferences.maxAudioChannels) },
    limits: limitsFrom(who.limits, client.local),
    ladder,
    tracks,
    dynamicRange: preferences.dynamicRange,
    quality: named ?? (client.local ? preferences.homeQuality : preferences.remoteQuality),
    maxBitrate: wishes.maxBitrate,
    allow: wishes.allow,
  };
}

/** Of an episode its show, else the item: where track choices are remembered. */
export function showOf(item: VisibleItem): string {
  return item.grandparentId ?? item.parentId ?? item.id;
}

/** The files that have the tracks named. Throws 400 with the path of the field that none has. */
function withNamedTracks(files: CandidateFile[], { audioStreamId, subtitleStreamId }: Wishes): CandidateFile[] {
  const named = [
    { field: 'audioStreamId', kind: 'audio', id: audioStreamId },
    { field: 'subtitleStreamId', kind: 'subtitle', id: subtitleStreamId },
  ].filter(({ id }) => id);
  let able = files;
  for (const { field, kind, id } of named) {
    able = able.filter((file) => file.tracks.some((track) => track.id === id && track.kind === kind));
    if (able.length === 0) throw invalid(['body', field], 'unknown_track', `the file has no such ${kind} track`);
  }
  return able;
}
