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

export type PlayOptions = Pick<
  StartPlayback,
  'fileId' | 'audioStreamId' | 'subtitleStreamId' | 'quality' | 'maxBitrate' | 'allow'
> & {
  /** The file of the stored position. */
  resumed?: string | undefined;
};

export interface Choice extends Outcome {
  files: CandidateFile[];
  preferences: PlaybackPreferences;
  warnings: Warning[];
}

interface Choosing {
  options: PlayOptions;
  profile: Profile;
}

/** Decides how an item plays. Throws the 415 and 423 errors of startPlayback. */
export async function choose(call: Call, item: VisibleItem, choosing: Choosing): Promise<Choice> {
  const { db, who, deps } = call;
  const { options } = choosing;
  await readUnread(call, item.id, options.fileId);
  const files = await playableFiles(call, item.id, options);
  const able = withNamedTracks(files, options);
  const preferences = await readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  const input = inputOf(call, choosing, {
    preferences,
    tracks: await trackOptions(call, { item, options, preferences }),
  });
  const { outcome, warnings } = decideAnyhow(able, input);
  if ('refused' in outcome) {
    throw new ApiError('MEDIA_TRANSCODE_DISABLED', 'This needs a transcode, which is not allowed', {
      reasons: outcome.refused,
    });
  }
  return { ...outcome, files, preferences, warnings };
}

async function trackOptions(
  { db, who }: Call,
  { item, options, preferences }: { item: VisibleItem; options: PlayOptions; preferences: PlaybackPreferences },
): Promise<TrackOptions> {
  const { audioStreamId, subtitleStreamId } = options;
  const last = preferences.rememberTracks ? await lastChoice(db, who.profileId, showOf(item)) : undefined;
  const original = preferences.preferOriginalAudio ? await originalLanguage(db, item) : undefined;
  return { ...preferences, audioStreamId, subtitleStreamId, last, originalLanguage: original };
}

function inputOf(
  { who, client, deps }: Call,
  { options, profile }: Choosing,
  { preferences, tracks }: { preferences: PlaybackPreferences; tracks: TrackOptions },
): DecisionInput {
  const ladder = deps.settings.get('playback.ladder');
  const named = options.quality;
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
    maxBitrate: options.maxBitrate,
    allow: options.allow,
  };
}

/** The show of an episode, else the item: track choices are stored for it. */
export function showOf(item: VisibleItem): string {
  return item.grandparentId ?? item.parentId ?? item.id;
}

/** The files that have the named tracks. Throws 400 with the path of a field whose track no file has. */
function withNamedTracks(files: CandidateFile[], { audioStreamId, subtitleStreamId }: PlayOptions): CandidateFile[] {
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
