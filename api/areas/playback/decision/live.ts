import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { FRAGMENTS } from '#platform/live/fragments.ts';
import type { ProbedStream } from '#platform/media.ts';
import type { Rung } from '#platform/settings.ts';
import type { PlaybackDecision, PlaybackReason, PlaybackStart } from '../playback.schemas.ts';
import { readPreferences } from '../progress/preferences.ts';
import { type CandidateFile, copiedAudio, copiedVideo, type DecisionInput, failed } from './candidates.ts';
import { type Frame, rungFrame, rungsFor } from './ladder.ts';
import { capsOf, limitsFrom, quality } from './limits.ts';
import { chosenPictures, offeredPictures } from './live-pictures.ts';
import type { Profile } from './profiles.ts';
import { audioFaults, videoFaults } from './support.ts';
import { chooseAudio, type Track } from './tracks.ts';

export interface LiveOptions {
  profile: Profile;
  quality?: string | undefined;
  maxBitrate?: number | undefined;
  audioLanguage?: string | undefined;
  /** Picture subtitles that are burned in. */
  subtitleStreamId?: string | null | undefined;
  subtitleLanguage?: string | null | undefined;
}

export interface LiveChoice {
  decision: PlaybackDecision;
  /** `source` for the segments as they were received, `sound` for their pictures with encoded sound, `fragments` for the same in fragmented MP4, else the ladder id of a rendition. */
  rendition: string;
  /** Index of the stream whose pictures are burned in. */
  pictures?: number;
  /** Picture subtitles that may be chosen. */
  offered: PlaybackStart['subtitles'];
}

/** Bits a second of the sound that is encoded to copied pictures. */
const SOUND_BITS = 192_000;

/** A channel as it is received, or a recording of it. */
export interface LiveSource {
  channelId: string;
  streams: readonly ProbedStream[];
  /** Bits a second of the whole stream. */
  bitrate: number;
  /** Why it does not play as a file. */
  reason: 'live-source' | 'growing-file';
}

/** Decides how a channel reaches the client: its own segments, or an encoded rendition. Throws 415 when neither may be. */
export async function decideLive(call: Call, source: LiveSource, options: LiveOptions): Promise<LiveChoice> {
  const input = await inputOf(call, options);
  const file = fileOf(source);
  const video = file.tracks.find((track) => track.kind === 'video');
  const audio = chooseAudio(file.tracks, input.tracks);
  const { reason } = source;
  const words = video && chosenPictures(file.tracks, options);
  const received = { file, video, audio, reason, words };
  const [others, heard] = [faultsOf(received, input), soundFaults(received, input)];
  const reasons = [...new Set([...others, ...heard, ...failed([['subtitle-burn-in', !words]])])];
  if (reasons.length === 0) return copied(received, input);
  if (video && !words) {
    if (others.length === 0 && encodesSound(input)) return withSound(received, input, reasons);
    if (takesFragments(received, input)) return inFragments(received, input, reasons);
  }
  if (!mayEncode(input, video))
    throw new ApiError('MEDIA_TRANSCODE_DISABLED', 'This needs a transcode, which is not allowed', { reasons });
  return encoded(received, input, reasons);
}

function mayEncode({ limits }: DecisionInput, video: Track | undefined): boolean {
  return !limits.remuxOnly && (video ? limits.videoTranscode : limits.audioTranscode);
}

async function inputOf({ db, who, deps, client }: Call, options: LiveOptions): Promise<DecisionInput> {
  const preferences = await readPreferences(db, who.profileId, deps.settings.get('playback.defaults'));
  const ladder = deps.settings.get('playback.ladder');
  const named = options.quality;
  if (named !== undefined && !['auto', 'original'].includes(named) && !ladder.some((rung) => rung.id === named)) {
    throw invalid(['body', 'quality'], 'unknown_quality', 'auto, original or a ladder id');
  }
  const languages = options.audioLanguage ? [options.audioLanguage] : preferences.audioLanguages;
  return {
    profile: options.profile,
    limits: limitsFrom(who.limits, client.local),
    ladder,
    tracks: { ...preferences, audioLanguages: languages, subtitleStreamId: null },
    dynamicRange: preferences.dynamicRange,
    quality: named ?? (client.local ? preferences.homeQuality : preferences.remoteQuality),
    maxBitrate: options.maxBitrate,
    allow: { directPlay: false, directStream: true, transcode: true },
  };
}

function fileOf({ channelId, streams, bitrate }: LiveSource): CandidateFile {
  const tracks = streams.map((stream): Track => ({ ...stream, id: trackId(channelId, stream.index) }));
  return {
    id: channelId,
    container: 'mpegts',
    durationMs: 0,
    bitrate,
    keyframesKnown: true,
    slowStorage: false,
    tracks,
  };
}

/** Tracks of a broadcast are no rows: their ids follow from the channel's. */
const trackId = (channelId: string, index: number): string =>
  `${channelId.slice(0, -2)}${(index & 0xff).toString(16).padStart(2, '0')}`;

interface Received {
  file: CandidateFile;
  video: Track | undefined;
  audio: Track | undefined;
  /** Subtitles to burn in. */
  words?: Track | undefined;
}

const CARRIED_VIDEO = ['h264', 'mpeg2'];
const CARRIED_AUDIO = ['aac', 'mp3', 'ac3', 'eac3'];
/** Layer II is decoded by every decoder of MPEG audio in players of transport streams. */
const heardAs = (audio: Track): Track => (audio.codec === 'mp2' ? { ...audio, codec: 'mp3' } : audio);

/** What the client decodes in a transport stream: by HLS, or as a player of such files. */
function decodersOf(profile: Profile): Pick<Profile['direct'][number], 'video' | 'audio'> & { isPlayer: boolean } {
  const rules = profile.direct.filter(({ containers }) => containers.includes('mpegts'));
  const { video = [], audio = [] } = profile.hls ?? {};
  return {
    video: [...video, ...rules.flatMap((rule) => rule.video)],
    audio: [...audio, ...rules.flatMap((rule) => rule.audio)],
    isPlayer: rules.length > 0,
  };
}

/** Reasons against the segments as they are, but for their sound. */
function faultsOf(received: Received, input: DecisionInput): PlaybackReason[] {
  const { file, video } = received;
  return [
    ...failed([['container-not-supported', input.profile.hls?.segments.includes('ts') ?? false]]),
    ...pictureFaults(received, input),
    ...capsOf(input).faults(file.bitrate, video?.height ?? 0),
  ];
}

/** The sound alone may be encoded: HD channels of Europe have H.264 with Layer II. */
const encodesSound = ({ limits, profile }: DecisionInput): boolean =>
  limits.audioTranscode && !limits.remuxOnly && (profile.hls?.audio.some(({ codec }) => codec === 'aac') ?? false);

function pictureFaults({ video }: Received, { profile }: DecisionInput): PlaybackReason[] {
  if (!video) return [];
  const carried = CARRIED_VIDEO.includes(video.codec);
  return [
    ...videoFaults(video, decodersOf(profile).video, profile),
    ...failed([['video-codec-not-supported', carried]]),
  ];
}

function soundFaults({ audio }: Received, { profile }: DecisionInput): PlaybackReason[] {
  if (!audio) return [];
  const decoders = decodersOf(profile);
  const heard = decoders.isPlayer ? heardAs(audio) : audio;
  return [
    ...audioFaults(heard, decoders.audio, profile.maxAudioChannels),
    ...failed([['audio-codec-not-supported', CARRIED_AUDIO.includes(heard.codec)]]),
  ];
}

/** With the reason that it does not play as a file. */
type Played = Received & Pick<LiveSource, 'reason'>;

function copied({ file, video, audio, reason }: Played, input: DecisionInput): LiveChoice {
  return {
    rendition: 'source',
    offered: offeredPictures(file.tracks, file.id),
    decision: {
      method: 'direct_stream',
      reasons: [reason],
      fileId: file.id,
      container: 'ts',
      ...(video && { video: copiedVideo(video, file) }),
      ...(audio && { audio: copiedAudio(audio) }),
      bitrate: file.bitrate,
      quality: 'original',
      alternatives: alternativesOf({ file, video, audio }, input),
    },
  };
}

function withSound(
  { file, video, audio, reason }: Played,
  input: DecisionInput,
  reasons: PlaybackReason[],
): LiveChoice {
  return {
    rendition: 'sound',
    offered: offeredPictures(file.tracks, file.id),
    decision: {
      method: 'direct_stream',
      reasons: [reason, ...reasons],
      fileId: file.id,
      container: 'ts',
      ...(video && { video: copiedVideo(video, file) }),
      ...(audio && { audio: { action: 'encode', streamId: audio.id, codec: 'aac', channels: 2, bitrate: SOUND_BITS } }),
      bitrate: file.bitrate,
      quality: 'original',
      alternatives: alternativesOf({ file, video, audio }, input),
    },
  };
}

/** HEVC, which players take in fragmented MP4 alone. The parts of a recording are transport streams until they are a file. */
function takesFragments({ file, video, reason }: Played, input: DecisionInput): boolean {
  const { hls } = input.profile;
  if (reason !== 'live-source' || video?.codec !== 'hevc') return false;
  if (!hls?.segments.includes('fmp4') || !encodesSound(input)) return false;
  const faults = [
    ...videoFaults(video, hls.video, input.profile),
    ...capsOf(input).faults(file.bitrate, video.height ?? 0),
  ];
  return faults.length === 0;
}

function inFragments(received: Played, input: DecisionInput, reasons: PlaybackReason[]): LiveChoice {
  const { decision, offered } = withSound(received, input, reasons);
  return { rendition: FRAGMENTS, offered, decision: { ...decision, container: 'fmp4' } };
}

function encoded(received: Played, input: DecisionInput, reasons: PlaybackReason[]): LiveChoice {
  const { file, video, audio, words } = received;
  const rung = rungOf(video, input);
  return {
    rendition: words ? `${rung.id}-s${words.index}` : rung.id,
    ...(words && { pictures: words.index }),
    offered: offeredPictures(file.tracks, file.id),
    decision: {
      method: 'transcode',
      reasons: [received.reason, ...reasons],
      fileId: file.id,
      container: 'ts',
      ...(video && { video: encodedVideo(video, rung) }),
      ...(audio && { audio: encodedAudio(audio, rung) }),
      ...(words && { subtitle: { streamId: words.id, delivery: 'burn-in' } }),
      bitrate: rung.videoBitrate + rung.audioBitrate,
      quality: rung.id,
      alternatives: alternativesOf(received, input),
    },
  };
}

const frameOf = ({ width = 1280, height = 720 }: Track): Frame => ({ width, height });

/** The best rung within the limits. Throws 415 for a client without H.264. */
function rungOf(video: Track | undefined, input: DecisionInput): Rung {
  const [rung] = video
    ? rungsFor(frameOf(video), input.ladder, capsOf(input))
    : input.ladder.filter(({ height }) => height === 0);
  const plays = input.profile.hls?.video.some(({ codec }) => codec === 'h264') ?? false;
  if (rung && plays) return rung;
  throw new ApiError('MEDIA_UNSUPPORTED_CODEC', 'This client plays no live stream', { reason: 'client' });
}

function encodedVideo(video: Track, rung: Rung): NonNullable<PlaybackDecision['video']> {
  const size = rungFrame(frameOf(video), rung);
  return {
    ...{ action: 'encode', codec: 'h264', ...size, bitrate: rung.videoBitrate },
    ...{ toneMapped: false, deinterlaced: video.interlaced ?? false },
  };
}

function encodedAudio({ id }: Track, { audioBitrate }: Rung): NonNullable<PlaybackDecision['audio']> {
  return { action: 'encode', streamId: id, codec: 'aac', channels: 2, bitrate: audioBitrate };
}

/** The quality menu, in which the source is a copied stream. */
function alternativesOf({ file, video, audio }: Received, input: DecisionInput): PlaybackDecision['alternatives'] {
  const [original, ...rungs] = quality.alternatives({ file, video, audio, subtitle: undefined }, input);
  return [...(original ? [{ ...original, method: 'direct_stream' as const }] : []), ...rungs];
}
