import type { Hdr, ProbedStream } from '#platform/media.ts';
import { type AudioFacts, aacFacts, ac3Facts, eac3Facts, flacFacts, opusFacts, usualLayout } from '../codecs/audio.ts';
import { av1Facts } from '../codecs/av1.ts';
import { avcFacts } from '../codecs/avc.ts';
import { hevcFacts } from '../codecs/hevc.ts';
import type { VideoFacts } from '../codecs/video.ts';
import { vp8Facts, vp9Facts } from '../codecs/vpx.ts';
import { unsure } from '../fault.ts';
import { languageTag } from '../languages.ts';
import { child } from './ebml.ts';
import type { FirstFrame } from './first-frames.ts';
import { ID } from './ids.ts';
import { decimal, number, type Track } from './tracks.ts';

const VIDEO: Readonly<Record<string, string>> = {
  'V_MPEG4/ISO/AVC': 'h264',
  'V_MPEGH/ISO/HEVC': 'hevc',
  V_AV1: 'av1',
  V_VP9: 'vp9',
  V_VP8: 'vp8',
};
const SUBTITLES: Readonly<Record<string, string>> = {
  'S_TEXT/UTF8': 'subrip',
  'S_TEXT/ASCII': 'subrip',
  'S_TEXT/ASS': 'ass',
  'S_TEXT/SSA': 'ass',
  S_ASS: 'ass',
  S_SSA: 'ass',
  'S_TEXT/WEBVTT': 'webvtt',
  'D_WEBVTT/SUBTITLES': 'webvtt',
  'S_HDMV/PGS': 'pgs',
  S_VOBSUB: 'vobsub',
};

/** The stream of one track; `frame` is its first frame, if found. */
export function streamOf(track: Track, index: number, frame: FirstFrame | undefined): ProbedStream {
  const common = commonOf(track, index);
  if (track.type === 'subtitle') return { ...common, codec: SUBTITLES[track.codec] ?? unsure(track.codec) };
  if (track.packed) unsure('packed track');
  const bytes = Buffer.concat([track.stripped, frame?.bytes ?? Buffer.alloc(0)]);
  return track.type === 'video' ? { ...common, ...videoOf(track, bytes) } : { ...common, ...audioOf(track, bytes) };
}

function commonOf(track: Track, index: number): ProbedStream {
  const language = languageTag(track.language);
  return {
    index,
    kind: track.type,
    codec: '',
    ...(language === undefined ? {} : { language }),
    ...(track.name === undefined || track.name === '' ? {} : { title: track.name }),
    default: track.default,
    forced: track.forced,
    hearingImpaired: track.hearingImpaired,
    ...(track.original && { original: true }),
  };
}

function videoOf(track: Track, frame: Buffer): Partial<ProbedStream> & { codec: string } {
  const codec = VIDEO[track.codec] ?? unsure(track.codec);
  const video = track.video ?? unsure('video without size');
  if (child(video, ID.projection)) unsure('projection');
  const { transfer, ...facts } = videoFacts(codec, track, frame);
  const hdr = hdrOf(track, transfer ?? declaredTransfer(video, facts.bitDepth ?? 8, codec));
  return {
    width: number(video, ID.width, 0),
    height: number(video, ID.height, 0),
    ...facts,
    codec,
    ...(hdr === undefined ? {} : { hdr }),
    ...(track.frameNs === undefined ? unsure('frame rate') : { frameRate: rateOf(track.frameNs) }),
  };
}

function videoFacts(codec: string, track: Track, frame: Buffer): VideoFacts {
  switch (codec) {
    case 'h264':
      return avcFacts(track.codecPrivate);
    case 'hevc':
      return hevcFacts(track.codecPrivate);
    case 'av1':
      return av1Facts(track.codecPrivate);
    case 'vp9':
      return vp9Facts(frame);
    default:
      return vp8Facts(frame);
  }
}

/** AV1 and VP9 store colours in frames: above 8 bits the container must declare them. */
function declaredTransfer(video: Buffer, bitDepth: number, codec: string): number | undefined {
  const colour = child(video, ID.colour);
  if (!colour && bitDepth > 8 && codec !== 'hevc' && codec !== 'h264') unsure('colours');
  return colour && number(colour, ID.transfer, 2);
}

function hdrOf(track: Track, transfer: number | undefined): Hdr | undefined {
  if (track.dolbyVision) return 'dolby-vision';
  if (transfer === 16) return track.hdr10plus ? 'hdr10plus' : 'hdr10';
  return transfer === 18 ? 'hlg' : undefined;
}

/** Frames per second, three decimals; 41 708 333 ns is 23.976. */
function rateOf(frameNs: number): number {
  return Math.round(1e12 / frameNs) / 1000;
}

function audioOf(track: Track, frame: Buffer): Partial<ProbedStream> & { codec: string } {
  const audio = track.audio ?? Buffer.alloc(0);
  const channels = number(audio, ID.channels, 1);
  const rate = decimal(audio, ID.outputRate, 0) || decimal(audio, ID.rate, 8000);
  const depth = number(audio, ID.bitDepth, 0);
  const { codec, ...facts } = audioFacts({ track, frame, channels });
  const layout = usualLayout(channels);
  return {
    channels,
    sampleRate: Math.round(rate),
    ...(layout === undefined ? {} : { channelLayout: layout }),
    ...(depth > 0 && codec === 'flac' ? { bitDepth: depth } : {}),
    ...facts,
    codec,
  };
}

interface Sound {
  track: Track;
  frame: Buffer;
  channels: number;
}

function audioFacts({ track, frame, channels }: Sound): AudioFacts & { codec: string } {
  switch (track.codec) {
    case 'A_AAC':
      return { codec: 'aac', ...aacFacts(track.codecPrivate) };
    case 'A_AC3':
      return { codec: 'ac3', ...ac3Facts(frame) };
    case 'A_EAC3':
      return { codec: 'eac3', ...eac3Facts(frame, channels) };
    case 'A_OPUS':
      return { codec: 'opus', ...opusFacts(track.codecPrivate) };
    case 'A_FLAC':
      return { codec: 'flac', ...flacFacts(track.codecPrivate) };
    case 'A_VORBIS':
      return { codec: 'vorbis', codecString: 'vorbis' };
    case 'A_MPEG/L3':
      return { codec: 'mp3', codecString: 'mp4a.40.34' };
    default:
      return unsure(track.codec);
  }
}
