// Names of tracks, qualities and reasons in the language of the page.
import type { MediaStream, PlaybackReason, PlaybackSession, PlaybackStart } from 'foyer-client';
import type { Problem } from '#core/api/errors.ts';
import { language } from '#core/messages/text.ts';
import { channelsOf, languageName, type Quality, type Subtitle } from '#core/player/tracks.ts';
import * as m from '#messages/player.ts';
import { bitRateText } from './time.ts';

export interface Label {
  name: string;
  /** Quiet, after the name. */
  note: string;
}

const joined = (parts: readonly (string | undefined | false)[]): string => parts.filter(Boolean).join(' · ');

export function subtitleLabel(track: Subtitle): Label {
  const name = languageName(track.language, language()) ?? track.title ?? m.unknownLanguage();
  const kind = [track.forced && m.forced(), track.hearingImpaired && m.hearingImpaired()];
  const title = track.title === name ? undefined : track.title;
  return {
    name,
    note: joined([title, ...kind, track.url === '' && m.picture(), /^(ass|ssa)$/i.test(track.format) && 'ASS']),
  };
}

export function audioLabel(track: MediaStream): Label {
  const name = languageName(track.language, language()) ?? track.title ?? m.unknownLanguage();
  const title = track.title === name ? undefined : track.title;
  return { name, note: joined([title, codecName(track.codec), channelsOf(track)]) };
}

export function qualityLabel({ quality, height, bitrate }: Quality): Label {
  if (quality === 'original')
    return { name: m.original(), note: joined([`${height}p`, bitRateText(bitrate, language())]) };
  return { name: height > 0 ? `${height}p` : m.soundOnly(), note: bitRateText(bitrate, language()) };
}

const CODECS: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'HEVC',
  av1: 'AV1',
  vp9: 'VP9',
  vp8: 'VP8',
  mpeg2video: 'MPEG-2',
  mpeg2: 'MPEG-2',
  mpeg4: 'MPEG-4',
  vc1: 'VC-1',
  aac: 'AAC',
  ac3: 'Dolby Digital',
  eac3: 'Dolby Digital Plus',
  truehd: 'Dolby TrueHD',
  dts: 'DTS',
  dtshd: 'DTS-HD',
  flac: 'FLAC',
  opus: 'Opus',
  mp3: 'MP3',
};

const CONTAINERS: Readonly<Record<string, string>> = { matroska: 'Matroska', webm: 'WebM', mpegts: 'MPEG-TS' };

export const containerName = (container: string): string => CONTAINERS[container] ?? container.toUpperCase();

export const codecName = (codec: string): string => CODECS[codec] ?? codec.toUpperCase();

const REASONS: Readonly<Record<PlaybackReason, () => string>> = {
  'container-not-supported': m.whyContainer,
  'video-codec-not-supported': m.whyVideoCodec,
  'video-profile-not-supported': m.whyVideoProfile,
  'video-level-not-supported': m.whyVideoLevel,
  'video-bit-depth-not-supported': m.whyBitDepth,
  'video-resolution-not-supported': m.whyResolution,
  'video-frame-rate-not-supported': m.whyFrameRate,
  'video-hdr-not-supported': m.whyHdr,
  'video-interlaced-not-supported': m.whyInterlaced,
  'audio-codec-not-supported': m.whyAudioCodec,
  'audio-channels-not-supported': m.whyAudioChannels,
  'audio-sample-rate-not-supported': m.whySampleRate,
  'audio-track-switch': m.whyAudioSwitch,
  'subtitle-burn-in': m.whyBurnIn,
  'bitrate-over-client-limit': m.whyClientLimit,
  'bitrate-over-account-limit': m.whyAccountLimit,
  'bitrate-over-remote-limit': m.whyRemoteLimit,
  'requested-quality': m.whyQuality,
  'keyframes-unknown': m.whyKeyframes,
  'direct-play-refused': m.whyRefused,
  'growing-file': m.whyGrowing,
  'live-source': m.whyLive,
};

export const reasonText = (reason: PlaybackReason): string => REASONS[reason]?.() ?? reason;

/** The decision in one sentence. */
export function whySentence({ session }: PlaybackStart): string {
  const { method, reasons } = session.decision;
  if (method === 'direct_play') return m.whyDirect();
  // What costs most comes first among the reasons that people hear.
  const first = ORDER.find((one) => reasons.includes(one)) ?? reasons[0];
  const text = first && reasonText(first);
  if (method === 'direct_stream') return text ? m.whyStreamBecause({ reason: text }) : m.whyStream();
  return text ? m.whyConvertBecause({ reason: text }) : m.whyConvert();
}

const ORDER: readonly PlaybackReason[] = [
  'requested-quality',
  'subtitle-burn-in',
  'video-codec-not-supported',
  'video-hdr-not-supported',
];

type StopReason = NonNullable<PlaybackSession['stopReason']>;
const STOPS: Readonly<Partial<Record<StopReason, () => string>>> = {
  'ended-by-admin': m.stoppedByAdmin,
  'viewing-hours': m.stoppedByHours,
  'age-limit': m.stoppedByAge,
  limit: m.stoppedByLimit,
  replaced: m.stoppedElsewhere,
};

export const stopText = (reason: StopReason): string => (STOPS[reason] ?? m.stoppedByServer)();

export interface ProblemText {
  title: string;
  next?: string;
}

const NOT_PLAYABLE: Readonly<Record<string, () => string>> = {
  'missing-file': m.missingFile,
  'not-probed': m.notProbed,
  corrupt: m.corrupt,
  drm: m.drm,
  type: m.noVideo,
};

/** What a refusal of the server means while watching; undefined for those that every page explains. */
export function playbackProblem({ code, reason, details }: Problem): ProblemText | undefined {
  if (code === 'MEDIA_NOT_PLAYABLE') return { title: (NOT_PLAYABLE[reason ?? ''] ?? m.notPlayable)() };
  if (code === 'MEDIA_UNSUPPORTED_CODEC') return { title: m.unsupported(), next: m.unsupportedNext() };
  if (code === 'TRANSCODE_FAILED') return notConverted(reason);
  if (code === 'FORBIDDEN' && reason === 'remote') return { title: m.notFromHere(), next: m.notFromHereNext() };
  if (code !== 'MEDIA_TRANSCODE_DISABLED') return undefined;
  const reasons = Array.isArray(details['reasons']) ? (details['reasons'] as PlaybackReason[]) : [];
  return { title: m.noConversion(), next: reasons.map(reasonText).join(' ') };
}

const notConverted = (reason: string | undefined): ProblemText =>
  reason === 'source-read'
    ? { title: m.notRead(), next: m.notReadNext() }
    : { title: m.damaged(), next: m.damagedNext() };
