import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import type { CandidateFile, Outcome } from './candidates.ts';
import { decide } from './decision.ts';
import { limitsFrom } from './limits.ts';
import type { StartPlayback } from './playback.schemas.ts';
import { readPreferences } from './preferences.ts';
import type { Profile } from './profiles.ts';
import type { PlaybackPreferences } from './progress.schemas.ts';
import { lastChoice, playableFiles } from './start.view.ts';

export type Wishes = Pick<
  StartPlayback,
  'fileId' | 'audioStreamId' | 'subtitleStreamId' | 'quality' | 'maxBitrate' | 'allow'
>;

export interface Choice extends Outcome {
  files: CandidateFile[];
  preferences: PlaybackPreferences;
}

/** The decision for an item and a wish. Throws the 415s and 423 of startPlayback. */
export async function choose(
  call: Call,
  item: VisibleItem,
  ask: { wishes: Wishes; profile: Profile },
): Promise<Choice> {
  const { db, who, client, deps } = call;
  const { wishes, profile } = ask;
  const files = await playableFiles(db, item.id, wishes.fileId);
  refuseStrangeTracks(files, wishes);
  const preferences = await readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  const last = preferences.rememberTracks ? await lastChoice(db, who.profileId, showOf(item)) : undefined;
  const limits = limitsFrom(who.limits, client.local);
  const ladder = deps.settings.get('playback.ladder');
  const named = wishes.quality;
  if (named !== undefined && !['auto', 'original'].includes(named) && !ladder.some((rung) => rung.id === named)) {
    throw invalid(['body', 'quality'], 'unknown_quality', 'auto, original or a ladder id');
  }
  const outcome = decide(files, {
    profile: { ...profile, maxAudioChannels: Math.min(profile.maxAudioChannels ?? 16, preferences.maxAudioChannels) },
    limits,
    ladder,
    tracks: { ...preferences, audioStreamId: wishes.audioStreamId, subtitleStreamId: wishes.subtitleStreamId, last },
    quality: named ?? (client.local ? preferences.homeQuality : preferences.remoteQuality),
    maxBitrate: wishes.maxBitrate,
    allow: wishes.allow,
  });
  if ('refused' in outcome) {
    throw new ApiError('MEDIA_TRANSCODE_DISABLED', 'Only a transcode would do, and it is refused', {
      reasons: outcome.refused,
    });
  }
  return { ...outcome, files, preferences };
}

/** Of an episode its show, else the item: where track choices are remembered. */
export function showOf(item: VisibleItem): string {
  return item.grandparentId ?? item.parentId ?? item.id;
}

function refuseStrangeTracks(files: readonly CandidateFile[], { audioStreamId, subtitleStreamId }: Wishes): void {
  const has = (id: string, kind: string): boolean =>
    files.some((file) => file.tracks.some((track) => track.id === id && track.kind === kind));
  if (audioStreamId && !has(audioStreamId, 'audio')) {
    throw invalid(['body', 'audioStreamId'], 'unknown_track', 'the file has no such audio track');
  }
  if (subtitleStreamId && !has(subtitleStreamId, 'subtitle')) {
    throw invalid(['body', 'subtitleStreamId'], 'unknown_track', 'the file has no such subtitle track');
  }
}
