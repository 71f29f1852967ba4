import type { StreamOptions } from '#areas/streaming/public.ts';
import type { Rung } from '#platform/settings.ts';
import type { PlaybackDecision, PlaybackReason } from '../playback.schemas.ts';
import type { PlaybackPreferences } from '../progress/progress.schemas.ts';
import type { Profile } from './profiles.ts';
import type { Track, TrackOptions } from './tracks.ts';

/** The account's limits at the location of the caller. */
export interface Limits {
  remote: boolean;
  /** Bits a second. */
  maxBitrate?: number | undefined;
  maxHeight?: number | undefined;
  videoTranscode: boolean;
  audioTranscode: boolean;
  remuxOnly: boolean;
}

/** A file by its probe; a decision never reads the media. */
export interface CandidateFile {
  id: string;
  container: string;
  durationMs: number;
  bitrate: number;
  keyframesKnown: boolean;
  /** The storage is slow. */
  slowStorage: boolean;
  tracks: Track[];
}

export interface DecisionInput {
  profile: Profile;
  limits: Limits;
  ladder: readonly Rung[];
  tracks: TrackOptions;
  /** Dynamic range compression for encoded audio. */
  dynamicRange: PlaybackPreferences['dynamicRange'];
  /** auto, original or a ladder id. */
  quality: string;
  maxBitrate?: number | undefined;
  allow: { directPlay: boolean; directStream: boolean; transcode: boolean };
}

/** The stream to open, without the ids of its session. */
export type StreamPart = Pick<StreamOptions, 'mode' | 'container' | 'video' | 'audio' | 'subtitles'>;

export interface Outcome {
  decision: PlaybackDecision;
  file: CandidateFile;
  subtitle: SubtitlePlan | undefined;
  /** Absent for direct play. */
  stream?: StreamPart | undefined;
}

export interface Chosen {
  file: CandidateFile;
  video: Track | undefined;
  audio: Track | undefined;
  subtitle: Track | undefined;
}

export interface SubtitlePlan {
  track: Track;
  delivery: 'sidecar' | 'hls' | 'pictures' | 'burn-in';
}

/** Reasons of the failed checks. */
export function failed(checks: readonly (readonly [PlaybackReason, boolean])[]): PlaybackReason[] {
  return checks.flatMap(([reason, fine]) => (fine ? [] : [reason]));
}

export function copiedVideo(video: Track, file: CandidateFile): NonNullable<PlaybackDecision['video']> {
  return {
    action: 'copy',
    codec: video.codec,
    width: video.width ?? 0,
    height: video.height ?? 0,
    bitrate: video.bitrate ?? file.bitrate,
    ...(video.hdr && { hdr: video.hdr }),
    toneMapped: false,
    deinterlaced: false,
  };
}

export function copiedAudio(audio: Track): NonNullable<PlaybackDecision['audio']> {
  return {
    action: 'copy',
    streamId: audio.id,
    codec: audio.codec,
    channels: audio.channels ?? 2,
    bitrate: audio.bitrate ?? 0,
  };
}
