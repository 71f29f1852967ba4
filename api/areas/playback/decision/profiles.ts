import type { AudioSupport, ClientProfile, VideoSupport } from '../playback.schemas.ts';

/** A profile with all defaults, as the decision reads it. */
export interface Profile {
  maxBitrate?: number | undefined;
  maxWidth?: number | undefined;
  maxHeight?: number | undefined;
  maxAudioChannels?: number | undefined;
  direct: NonNullable<ClientProfile['direct']>;
  hls?: NonNullable<ClientProfile['hls']> | undefined;
  subtitles: NonNullable<ClientProfile['subtitles']>;
  switchesAudio: boolean;
}

const video = (codec: VideoSupport['codec'], more: Partial<VideoSupport> = {}): VideoSupport => ({
  codec,
  maxBitDepth: 8,
  hdr: [],
  interlaced: false,
  ...more,
});
const audio = (codec: AudioSupport['codec'], maxChannels = 8): AudioSupport => ({
  codec,
  maxChannels,
  passthrough: false,
});

const h264 = video('h264', { profiles: ['Constrained Baseline', 'Baseline', 'Main', 'High'], maxLevel: 52 });
const hevc = video('hevc', { maxBitDepth: 10, hdr: ['hdr10', 'hlg'] });
const open = [video('vp8'), video('vp9', { maxBitDepth: 10 }), video('av1', { maxBitDepth: 10 })];
const webAudio = [audio('aac'), audio('mp3', 2), audio('opus'), audio('flac'), audio('vorbis')];
const musicFiles: Profile['direct'][number] = {
  containers: ['mp3', 'flac', 'ogg', 'wav'],
  video: [],
  audio: [...webAudio, audio('pcm')],
};

const chromium: Profile = {
  direct: [
    {
      containers: ['mp4'],
      video: [h264, ...open],
      audio: [audio('aac'), audio('mp3', 2), audio('opus'), audio('flac')],
    },
    { containers: ['webm'], video: open, audio: [audio('opus'), audio('vorbis')] },
    musicFiles,
  ],
  hls: {
    segments: ['fmp4', 'ts'],
    video: [h264, ...open],
    audio: [audio('aac'), audio('opus'), audio('flac')],
    audioRenditions: true,
    webvtt: true,
  },
  subtitles: { formats: ['vtt'], pictures: false },
  switchesAudio: false,
};

const safari: Profile = {
  direct: [
    {
      containers: ['mp4'],
      video: [h264, hevc],
      audio: [audio('aac'), audio('mp3', 2), audio('alac'), audio('ac3', 6), audio('eac3'), audio('flac')],
    },
    { containers: ['mp3', 'flac', 'wav'], video: [], audio: [audio('mp3', 2), audio('flac'), audio('pcm')] },
  ],
  hls: {
    segments: ['fmp4', 'ts'],
    video: [h264, hevc],
    audio: [audio('aac'), audio('ac3', 6), audio('eac3')],
    audioRenditions: true,
    webvtt: true,
  },
  subtitles: { formats: ['vtt'], pictures: false },
  switchesAudio: true,
};

const everyVideo = [
  h264,
  hevc,
  ...open,
  video('mpeg2', { interlaced: true }),
  video('mpeg4'),
  video('vc1', { interlaced: true }),
];
const everyAudio = [
  ...webAudio,
  audio('alac'),
  audio('pcm'),
  audio('ac3'),
  audio('eac3'),
  audio('truehd'),
  audio('dts'),
  audio('dtshd'),
];

/** A player with its own decoders, such as mpv or VLC. */
const native: Profile = {
  direct: [
    {
      containers: ['matroska', 'webm', 'mp4', 'avi', 'mpegts', 'mpegps', 'asf', 'flv', 'ogg', 'flac', 'mp3', 'wav'],
      video: everyVideo.map((one) => ({
        ...one,
        profiles: undefined,
        maxLevel: undefined,
        maxBitDepth: 12,
        hdr: ['hdr10', 'hdr10plus', 'hlg', 'dolby-vision'],
      })),
      audio: everyAudio,
    },
  ],
  hls: {
    segments: ['fmp4', 'ts'],
    video: [h264, hevc, ...open],
    audio: [audio('aac'), audio('ac3'), audio('eac3'), audio('opus'), audio('flac')],
    audioRenditions: true,
    webvtt: true,
  },
  subtitles: { formats: ['vtt', 'ass', 'srt'], pictures: true },
  switchesAudio: true,
};

/** A player of HLS with H.264 and AAC only. */
const plainHls: Profile = {
  direct: [],
  hls: { segments: ['fmp4', 'ts'], video: [h264], audio: [audio('aac', 2)], audioRenditions: true, webvtt: true },
  subtitles: { formats: ['vtt'], pictures: false },
  switchesAudio: false,
};

/** Built-in profiles by name, as in PlaybackCapabilities. */
export const builtInProfiles: Record<string, Profile> = { chromium, firefox: chromium, safari, native, hls: plainHls };

/** Undefined for an unknown built-in profile. */
export function completeProfile(profile: ClientProfile): Profile | undefined {
  const { builtIn, offline: _offline, ...own } = profile;
  const base =
    builtIn === undefined
      ? { direct: [], subtitles: { formats: [], pictures: false }, switchesAudio: false }
      : Object.hasOwn(builtInProfiles, builtIn) // excludes inherited names such as `constructor`
        ? builtInProfiles[builtIn]
        : undefined;
  if (!base) return undefined;
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...base, ...given };
}
