import type { SubtitleOptions, VideoOptions } from '#areas/streaming/public.ts';
import type { PlaybackDecision, PlaybackReason } from '../playback.schemas.ts';
import {
  type Chosen,
  copiedAudio,
  copiedVideo,
  type DecisionInput,
  failed,
  type Outcome,
  type StreamPart,
  type SubtitlePlan,
} from './candidates.ts';
import { audioOptions, canCopy, containerOf, type Hls } from './hls-audio.ts';
import { type Frame, fitFrame, rungFrame, rungsFor } from './ladder.ts';
import { capsOf, quality } from './limits.ts';
import { isPicture, isText, subtitlePlan } from './subtitle-plan.ts';
import { audioFaults, videoFaults } from './support.ts';
import type { Track } from './tracks.ts';

const FMP4_VIDEO = ['h264', 'hevc', 'av1', 'vp9'];

/** Copies the video and copies or encodes the audio, or returns the reasons against it. */
export function copiedPlan(chosen: Chosen, input: DecisionInput): Outcome | { faults: PlaybackReason[] } {
  const { profile } = input;
  const { file, video } = chosen;
  const hls = profile.hls;
  if (!hls || !video) return { faults: [] };
  const subtitle = subtitlePlan(chosen, profile, 'hls');
  const faults: PlaybackReason[] = [
    ...videoFaults(video, hls.video, profile),
    ...failed([
      ['video-codec-not-supported', carries(containerOf(hls), video.codec)],
      ['container-not-supported', containerOf(hls) === 'fmp4' || !video.rotation], // transport streams carry no rotation
      ['keyframes-unknown', file.keyframesKnown],
      ['subtitle-burn-in', subtitle?.delivery !== 'burn-in'],
    ]),
    ...capsOf(input).faults(file.bitrate, video.height ?? 0),
    ...soundFaults(chosen, input),
  ];
  if (faults.length > 0) return { faults };
  const stream: StreamPart = {
    mode: 'copy',
    container: containerOf(hls),
    video: [
      videoOf(video, {
        action: 'copy',
        codec: video.codec,
        frame: frameOf(video),
        bitrate: video.bitrate ?? file.bitrate,
        toneMap: false,
        deinterlace: false,
      }),
    ],
    audio: audioOptions(chosen, input, hls),
    subtitles: subtitlesOf(chosen, hls),
  };
  return outcome(chosen, input, {
    stream,
    subtitle,
    method: 'direct_stream',
    video: copiedVideo(video, file),
    quality: 'original',
  });
}

function carries(container: 'fmp4' | 'ts', codec: string): boolean {
  return container === 'fmp4' ? FMP4_VIDEO.includes(codec) : codec === 'h264';
}

/** True when the audio needs an encoding that the account may not use. */
export function soundFaults(chosen: Chosen, input: DecisionInput): PlaybackReason[] {
  const { limits } = input;
  return limits.audioTranscode && !limits.remuxOnly ? [] : soundReasons(chosen, input);
}

/** Reasons why the audio cannot be copied. */
export function soundReasons({ audio }: Chosen, { profile }: DecisionInput): PlaybackReason[] {
  if (!audio || !profile.hls) return [];
  if (canCopy(audio, profile.hls, profile)) return [];
  const faults = audioFaults(audio, profile.hls.audio, profile.maxAudioChannels);
  return faults.length > 0 ? faults : ['audio-codec-not-supported']; // segments do not carry this codec
}

/** Encodes everything to H.264 and AAC, in the variants of the ladder. */
export function encodedPlan(chosen: Chosen, input: DecisionInput): Outcome | undefined {
  const { profile } = input;
  const hls = profile.hls;
  if (!hls || soundFaults(chosen, input).length > 0) return undefined;
  const subtitle = subtitlePlan(chosen, profile, 'hls');
  const common = {
    container: containerOf(hls),
    audio: audioOptions(chosen, input, hls),
    subtitles: subtitlesOf(chosen, hls),
  };
  const { video, file } = chosen;
  if (!video) {
    return outcome(chosen, input, {
      stream: { mode: 'encode', ...common },
      subtitle,
      method: 'transcode',
      quality: input.quality,
    });
  }
  if (!hls.video.some((support) => support.codec === 'h264')) return undefined;
  const variants = variantsOf({ video, tracks: file.tracks }, input, subtitle);
  const first = variants[0];
  if (!first) return undefined;
  return outcome(chosen, input, {
    stream: { mode: 'encode', ...common, video: variants.map((variant) => variant.options) },
    subtitle,
    method: 'transcode',
    quality: first.id,
    video: {
      action: 'encode',
      codec: 'h264',
      width: first.options.width,
      height: first.options.height,
      bitrate: first.options.bitrate,
      toneMapped: first.options.toneMap,
      deinterlaced: first.options.deinterlace,
    },
  });
}

const MOST_VARIANTS = 4;

/** One variant for a fixed quality, up to four for auto. Only the variant that is fetched is encoded. */
function variantsOf(
  { video, tracks }: { video: Track; tracks: readonly Track[] },
  input: DecisionInput,
  subtitle: SubtitlePlan | undefined,
): { id: string; options: VideoOptions }[] {
  const { profile } = input;
  const source = fitFrame(turned(video), profile);
  const rungs = rungsFor(source, input.ladder, capsOf(input));
  const chosen = input.quality === 'auto' ? spread(rungs) : rungs.slice(0, 1);
  return chosen.map((rung) => ({
    id: rung.id,
    options: {
      ...videoOf(video, {
        action: 'encode',
        codec: 'h264',
        frame: rungFrame(source, rung),
        bitrate: rung.videoBitrate,
        toneMap: video.hdr !== undefined,
        deinterlace: video.interlaced ?? false,
      }),
      ...(video.hdr && { transfer: video.hdr === 'hlg' ? 'hlg' : 'pq' }),
      ...(subtitle?.delivery === 'burn-in' && { burnIn: burnIn(subtitle.track, tracks) }),
    },
  }));
}

/** Rotated video is encoded upright. */
function turned(video: Track): Frame {
  const frame = frameOf(video);
  return (video.rotation ?? 0) % 180 === 0 ? frame : { width: frame.height, height: frame.width };
}

/** The best rung, and one of each lower height. */
function spread<T extends { height: number }>(rungs: readonly T[]): T[] {
  const heights = new Set<number>();
  return rungs.filter((rung) => !heights.has(rung.height) && heights.add(rung.height)).slice(0, MOST_VARIANTS);
}

function burnIn(track: Track, tracks: readonly Track[]): VideoOptions['burnIn'] {
  const inside = tracks.filter((one) => one.kind === 'subtitle' && !one.externalPath && !one.kept);
  return {
    streamId: track.id,
    streamIndex: track.index,
    number: inside.filter((one) => one.index < track.index).length,
    kind: isPicture(track) ? 'picture' : 'text',
    ...(track.externalPath && { path: track.externalPath, language: track.language }),
  };
}

function frameOf(video: Track): Frame {
  return { width: video.width ?? 1280, height: video.height ?? 720 };
}

interface VideoMade {
  action: 'copy' | 'encode';
  codec: string;
  frame: Frame;
  bitrate: number;
  toneMap: boolean;
  deinterlace: boolean;
}

function videoOf(video: Track, made: VideoMade): VideoOptions {
  const { frame, ...rest } = made;
  return {
    ...rest,
    ...frame,
    streamIndex: video.index,
    sourceCodec: video.codec,
    frameRate: video.frameRate ?? 25,
    ...(video.rotation !== undefined && { rotation: video.rotation }),
    ...(made.action === 'copy' && video.hdr && { hdr: video.hdr }),
  };
}

/** Text tracks as WebVTT renditions; the chosen one is the default. */
function subtitlesOf({ file, subtitle }: Chosen, hls: Hls): SubtitleOptions[] {
  if (!hls.webvtt) return [];
  const text = file.tracks.filter((track) => track.kind === 'subtitle' && isText(track));
  return text.map((track) => ({
    streamId: track.id,
    ...(track.externalPath ? { externalPath: track.externalPath } : { streamIndex: track.index }),
    format: track.codec,
    ...(track.language && { language: track.language }),
    ...(track.title && { title: track.title }),
    default: track.id === subtitle?.id,
    forced: track.forced,
    hearingImpaired: track.hearingImpaired,
  }));
}

interface Made {
  stream: StreamPart;
  subtitle: SubtitlePlan | undefined;
  method: 'direct_stream' | 'transcode';
  video?: NonNullable<PlaybackDecision['video']>;
  quality: string;
}

function outcome(chosen: Chosen, input: DecisionInput, made: Made): Outcome {
  const { file } = chosen;
  const { stream, subtitle, video, method } = made;
  const sound = soundOf(chosen, stream);
  return {
    file,
    subtitle,
    stream,
    decision: {
      method,
      reasons: [],
      fileId: file.id,
      container: stream.container,
      ...(video && { video }),
      ...(sound && { audio: sound }),
      ...(subtitle && { subtitle: { streamId: subtitle.track.id, delivery: subtitle.delivery } }),
      bitrate: (video?.bitrate ?? 0) + (sound?.bitrate ?? 0),
      quality: made.quality,
      alternatives: quality.alternatives(chosen, input),
    },
  };
}

function soundOf({ audio }: Chosen, stream: StreamPart): PlaybackDecision['audio'] {
  const [first] = stream.audio;
  if (!audio || !first) return undefined;
  const { streamId, codec, channels, bitrate } = first;
  return first.action === 'copy' ? copiedAudio(audio) : { action: 'encode', streamId, codec, channels, bitrate };
}
