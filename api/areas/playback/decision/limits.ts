import type { AccountLimits } from '#identity/principal.ts';
import type { PlaybackDecision, PlaybackReason } from '../playback.schemas.ts';
import type { Chosen, DecisionInput, Limits } from './candidates.ts';
import { rungsFor } from './ladder.ts';

export function limitsFrom(limits: AccountLimits, local: boolean): Limits {
  return {
    remote: !local,
    maxBitrate: local ? limits.maxBitrateHome : limits.maxBitrateRemote,
    maxHeight: limits.maxHeight,
    videoTranscode: limits.videoTranscode ?? true,
    audioTranscode: limits.audioTranscode ?? true,
    remuxOnly: limits.remuxOnly ?? false,
  };
}

interface Cap {
  bitrate: number;
  height: number;
  reason: PlaybackReason;
}

interface Caps {
  bitrate: number;
  height: number;
  faults: (bitrate: number, height: number) => PlaybackReason[];
}

/** Limits of the stream, each with its reason. */
export function capsOf({ profile, limits, ladder, quality: wanted, maxBitrate }: DecisionInput): Caps {
  const rung = ladder.find((one) => one.id === wanted);
  const caps: Cap[] = [
    {
      bitrate: Math.min(profile.maxBitrate ?? Infinity, maxBitrate ?? Infinity),
      height: Infinity,
      reason: 'bitrate-over-client-limit',
    },
    {
      bitrate: limits.maxBitrate ?? Infinity,
      height: Infinity,
      reason: limits.remote ? 'bitrate-over-remote-limit' : 'bitrate-over-account-limit',
    },
    { bitrate: Infinity, height: limits.maxHeight ?? Infinity, reason: 'video-resolution-not-supported' },
    {
      bitrate: rung ? rung.videoBitrate + rung.audioBitrate : Infinity,
      height: rung?.height ?? Infinity,
      reason: 'requested-quality',
    },
  ];
  return {
    bitrate: Math.min(...caps.map((cap) => cap.bitrate)),
    height: Math.min(...caps.map((cap) => cap.height)),
    faults: (bitrate, height) =>
      caps.flatMap((cap) => (bitrate > cap.bitrate || height > cap.height ? [cap.reason] : [])),
  };
}

/** The quality menu of this file: the source, and the encodings below it. */
function alternatives({ file, video }: Chosen, input: DecisionInput): PlaybackDecision['alternatives'] {
  const height = video?.height ?? 0;
  const original = { quality: 'original', method: 'direct_play' as const, bitrate: file.bitrate, height };
  if (!video || !input.limits.videoTranscode || input.limits.remuxOnly) return [original];
  const frame = { width: video.width ?? 1920, height: height || 1080 };
  const { maxBitrate = Infinity, maxHeight = Infinity } = input.limits;
  const fitting = rungsFor(frame, input.ladder, { bitrate: maxBitrate, height: maxHeight });
  // A rung that contains the whole source would be the source itself.
  const rungs = fitting.filter(
    (rung) => rung.height < frame.height || rung.videoBitrate + rung.audioBitrate < file.bitrate,
  );
  return [
    original,
    ...rungs.map((rung) => ({
      quality: rung.id,
      method: 'transcode' as const,
      bitrate: rung.videoBitrate + rung.audioBitrate,
      height: rung.height,
    })),
  ];
}

export const quality = { alternatives };
