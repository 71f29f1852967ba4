// What this browser plays, measured once for each of its versions.
import type { AudioSupport, ClientProfile, VideoSupport } from '../../../../api/client/index.ts';

/** The questions that a browser answers; a test gives its own answers. */
export interface Probe {
  /** HTMLVideoElement.canPlayType. */
  file(type: string): boolean;
  /** MediaSource.isTypeSupported. */
  stream(type: string): boolean;
  /** MediaCapabilities.decodingInfo: decoded without falling behind. */
  smooth(type: string, frame: Frame): Promise<boolean>;
  /** The screen shows high dynamic range. */
  hdr: boolean;
  /** The media element can choose among the audio tracks of a file. */
  switchesAudio: boolean;
  /** The version of the browser. */
  version: string;
}

export interface Frame {
  width: number;
  height: number;
  bitrate: number;
  framerate: number;
}

const KEPT = 'foyer.profile';
/** Changes with the questions of this file; an older measurement is repeated. */
const MEASURE = 5;

const HD: Frame = { width: 1920, height: 1080, bitrate: 12_000_000, framerate: 60 };
const UHD: Frame = { width: 3840, height: 2160, bitrate: 25_000_000, framerate: 30 };

interface VideoQuestion {
  codec: VideoSupport['codec'];
  type: string;
  /** With 10 bits; absent where a codec has none in use. */
  deep?: string;
  profiles?: NonNullable<VideoSupport['profiles']>;
  maxLevel?: number;
}

const VIDEO: readonly VideoQuestion[] = [
  {
    codec: 'h264',
    type: 'avc1.640034',
    profiles: ['Constrained Baseline', 'Baseline', 'Main', 'High'],
    maxLevel: 52,
  },
  { codec: 'hevc', type: 'hvc1.1.6.L150.B0', deep: 'hvc1.2.4.L150.B0' },
  { codec: 'av1', type: 'av01.0.13M.08', deep: 'av01.0.13M.10' },
  { codec: 'vp9', type: 'vp09.00.51.08', deep: 'vp09.02.51.10' },
  { codec: 'vp8', type: 'vp8' },
];

const AUDIO: readonly { codec: AudioSupport['codec']; type: string; maxChannels: number }[] = [
  { codec: 'aac', type: 'mp4a.40.2', maxChannels: 8 },
  { codec: 'opus', type: 'opus', maxChannels: 8 },
  { codec: 'flac', type: 'flac', maxChannels: 8 },
  { codec: 'mp3', type: 'mp3', maxChannels: 2 },
  { codec: 'vorbis', type: 'vorbis', maxChannels: 8 },
  { codec: 'alac', type: 'alac', maxChannels: 8 },
  { codec: 'ac3', type: 'ac-3', maxChannels: 6 },
  { codec: 'eac3', type: 'ec-3', maxChannels: 8 },
];

/** Codecs that a container carries in practice, so that a browser that says yes to everything is not believed. */
const FILES: readonly { containers: DirectContainers; mime: string; video: string[]; audio: string[] }[] = [
  {
    containers: ['mp4'],
    mime: 'video/mp4',
    video: ['h264', 'hevc', 'av1', 'vp9'],
    audio: ['aac', 'mp3', 'opus', 'flac', 'alac', 'ac3', 'eac3'],
  },
  { containers: ['webm'], mime: 'video/webm', video: ['vp8', 'vp9', 'av1'], audio: ['opus', 'vorbis'] },
];

/** Files of sound alone, which the browser plays by their own type. */
const SOUNDS: readonly {
  containers: DirectContainers;
  mime: string;
  codecs: readonly (readonly [codec: AudioSupport['codec'], type: string])[];
}[] = [
  { containers: ['mp3'], mime: 'audio/mpeg', codecs: [['mp3', 'mp3']] },
  { containers: ['flac'], mime: 'audio/flac', codecs: [['flac', 'flac']] },
  {
    containers: ['ogg'],
    mime: 'audio/ogg',
    codecs: [
      ['opus', 'opus'],
      ['vorbis', 'vorbis'],
    ],
  },
  { containers: ['wav'], mime: 'audio/wav', codecs: [['pcm', '1']] },
  { containers: ['aac'], mime: 'audio/aac', codecs: [['aac', 'mp4a.40.2']] },
];

/** Many browsers play a type without its codecs and say no to it with them. */
function soundsOf(probe: Probe): NonNullable<ClientProfile['direct']> {
  return SOUNDS.flatMap(({ containers, mime, codecs }) => {
    const works = codecs.filter(
      ([, type]) => probe.file(typed(mime, type)) || (codecs.length === 1 && probe.file(mime)),
    );
    const audio = works.map(([codec]) => ({ codec, maxChannels: 8 }));
    return audio.length === 0 ? [] : [{ containers, audio }];
  });
}

type DirectContainers = NonNullable<ClientProfile['direct']>[number]['containers'];

const STREAMED_VIDEO = ['h264', 'hevc', 'av1', 'vp9'];
const STREAMED_AUDIO = ['aac', 'opus', 'flac', 'ac3', 'eac3'];

/** A codec is left out when `works` says no to its type. */
async function videosOf(
  probe: Probe,
  works: (type: string) => boolean,
  codecs: readonly string[],
): Promise<VideoSupport[]> {
  const found: VideoSupport[] = [];
  for (const { codec, type, deep, ...more } of VIDEO) {
    if (!codecs.includes(codec) || !works(type)) continue;
    const isDeep = deep !== undefined && works(deep);
    const size = (await probe.smooth(type, UHD)) ? UHD : HD;
    const hdr = isDeep && probe.hdr ? (['hdr10', 'hlg'] as const) : [];
    found.push({
      codec,
      ...more,
      maxBitDepth: isDeep ? 10 : 8,
      ...(size === HD && { maxWidth: HD.width, maxHeight: HD.height + 8 }),
      hdr: [...hdr],
      interlaced: false,
    });
  }
  return found;
}

const audiosOf = (works: (type: string) => boolean, codecs: readonly string[]): AudioSupport[] =>
  AUDIO.filter(({ codec, type }) => codecs.includes(codec) && works(type)).map(({ codec, maxChannels }) => ({
    codec,
    maxChannels,
  }));

const typed = (mime: string, codecs: string): string => `${mime}; codecs="${codecs}"`;

export async function measure(probe: Probe): Promise<ClientProfile> {
  const direct: NonNullable<ClientProfile['direct']> = [];
  for (const { containers, mime, video, audio } of FILES) {
    const works = (type: string): boolean => probe.file(typed(mime, type));
    const sound = typed(mime.replace('video', 'audio'), '');
    const hears = (type: string): boolean => probe.file(sound.replace('""', `"${type}"`)) || works(type);
    direct.push({ containers, video: await videosOf(probe, works, video), audio: audiosOf(hears, audio) });
  }
  const works = (type: string): boolean => probe.stream(typed('video/mp4', type));
  const hears = (type: string): boolean => probe.stream(typed('audio/mp4', type));
  return {
    direct: [...direct.filter(({ video = [] }) => video.length > 0), ...soundsOf(probe)],
    hls: {
      segments: ['fmp4', 'ts'], // broadcasts and running recordings are transport streams, which hls.js takes apart
      video: await videosOf(probe, works, STREAMED_VIDEO),
      audio: audiosOf(hears, STREAMED_AUDIO),
      audioRenditions: false, // a change of audio is a change of the session, which then encodes one track alone
      webvtt: false, // text tracks are whole files of the overlay; a change of them never touches the stream
    },
    subtitles: { formats: ['vtt', 'ass'], pictures: true },
    switchesAudio: probe.switchesAudio,
  };
}

interface Kept {
  version: string;
  profile: ClientProfile;
  /** Codecs that failed while playing in this browser, whatever it says of them. */
  refused: string[];
}

type Home = Pick<Storage, 'getItem' | 'setItem'>;

function read(home: Home, version: string): Kept | undefined {
  try {
    const kept = JSON.parse(home.getItem(KEPT) ?? 'null') as Kept | null;
    return kept?.version === version ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** The profile of this browser without the codecs that failed in it. */
export async function clientProfile(probe: Probe, home: Home): Promise<ClientProfile> {
  const version = `${MEASURE} ${probe.hdr} ${probe.version}`;
  const known = read(home, version);
  if (known) return without(known.profile, known.refused);
  const profile = await measure(probe);
  home.setItem(KEPT, JSON.stringify({ version, profile, refused: [] } satisfies Kept));
  return profile;
}

/** Leaves a codec out from now on, because the browser failed to decode it. */
export async function refuseCodec(probe: Probe, home: Home, codec: string): Promise<ClientProfile> {
  await clientProfile(probe, home);
  const version = `${MEASURE} ${probe.hdr} ${probe.version}`;
  const known = read(home, version);
  if (!known) return without(await measure(probe), [codec]);
  const refused = [...new Set([...known.refused, codec])];
  home.setItem(KEPT, JSON.stringify({ ...known, refused }));
  return without(known.profile, refused);
}

function without(profile: ClientProfile, refused: readonly string[]): ClientProfile {
  if (refused.length === 0) return profile;
  const kept = <T extends { codec: string }>(list: T[]): T[] => list.filter(({ codec }) => !refused.includes(codec));
  return {
    ...profile,
    direct: (profile.direct ?? []).map((one) => ({
      ...one,
      video: kept(one.video ?? []),
      audio: kept(one.audio ?? []),
    })),
    ...(profile.hls && {
      // H.264 and AAC are what the server makes of everything else.
      hls: {
        ...profile.hls,
        video: profile.hls.video.filter(({ codec }) => codec === 'h264' || !refused.includes(codec)),
        audio: profile.hls.audio.filter(({ codec }) => codec === 'aac' || !refused.includes(codec)),
      },
    }),
  };
}
