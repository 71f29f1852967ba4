// Codec and container names of clients: the API's names, and aliases of ffmpeg, RFC 6381 and other servers.
import { z } from 'zod';

type Words = Readonly<Record<string, readonly string[]>>;

/** Names with their aliases. */
const containers = {
  mp4: ['mov', 'm4v', 'm4a', 'm4b', '3gp', '3g2', 'quicktime'],
  matroska: ['mkv', 'mka'],
  webm: [],
  mpegts: ['ts', 'm2ts', 'mts', 'mpeg-ts'],
  mpegps: ['mpg', 'mpeg', 'vob', 'ps', 'mpeg-ps'],
  avi: [],
  asf: ['wmv', 'wma'],
  flv: ['f4v'],
  ogg: ['oga', 'ogv', 'ogm'],
  flac: [],
  mp3: [],
  aac: ['adts'],
  wav: ['wave'],
} as const satisfies Words;

const videoCodecs = {
  h264: ['avc', 'avc1', 'avc3', 'h.264', 'x264'],
  hevc: ['h265', 'h.265', 'hvc1', 'hev1', 'x265'],
  av1: ['av01'],
  vp9: ['vp09'],
  vp8: ['vp08'],
  mpeg2: ['mpeg2video'],
  mpeg4: ['mp4v', 'xvid', 'divx'],
  vc1: ['vc-1', 'wvc1'],
  mjpeg: [],
} as const satisfies Words;

const audioCodecs = {
  aac: ['mp4a'],
  mp3: [],
  opus: [],
  vorbis: [],
  flac: [],
  alac: [],
  pcm: ['lpcm', 'pcm_s16le', 'pcm_s24le'],
  ac3: ['ac-3'],
  eac3: ['ec-3', 'e-ac-3', 'ec3'],
  truehd: ['mlp'],
  dts: ['dca'],
  dtshd: ['dts-hd', 'dts-hd-ma'],
} as const satisfies Words;

/** Profiles of all codecs, as ffprobe names them. */
const profiles = {
  'Constrained Baseline': ['constrained baseline', 'constrained-baseline'],
  Baseline: ['baseline'],
  Extended: [],
  Main: ['main'],
  High: ['high'],
  'High 10': ['high 10', 'high10'],
  'High 10 Intra': [],
  'High 4:2:2': ['high 4:2:2', 'high422'],
  'High 4:2:2 Intra': [],
  'High 4:4:4 Predictive': ['high 4:4:4 predictive', 'high444'],
  'CAVLC 4:4:4': [],
  'Main 10': ['main 10', 'main10'],
  'Main Still Picture': [],
  Rext: ['rext'],
  Professional: ['professional'],
  'Profile 0': ['0'],
  'Profile 1': ['1'],
  'Profile 2': ['2'],
  'Profile 3': ['3'],
  Simple: ['simple'],
  'Advanced Simple': ['advanced simple'],
  Complex: [],
  Advanced: ['advanced'],
} as const satisfies Words;

/** A name or an alias of it. Other names are 400. */
function wordOf<W extends Words>(words: W) {
  const entries = Object.entries(words) as [keyof W & string, readonly string[]][];
  const byName = new Map(entries.flatMap(([word, aliases]) => [word, ...aliases].map((name) => [name, word] as const)));
  return z.enum([...byName.keys()] as [string, ...string[]]).transform((name) => byName.get(name) as keyof W & string);
}

export const ContainerWord = wordOf(containers).describe('Aliases are accepted: mkv is matroska, ts is mpegts');
export const VideoCodecWord = wordOf(videoCodecs).describe('Aliases are accepted: h265 is hevc');
export const AudioCodecWord = wordOf(audioCodecs).describe('Aliases are accepted: ec-3 is eac3');
export const ProfileWord = wordOf(profiles).describe('As ffprobe names it, or in lower case');

/** Profiles that a decoder of a profile also decodes (H.264 annex A.2, HEVC annex A.3, AV1 annex A.2). */
const decodes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  h264: {
    Baseline: ['Constrained Baseline'],
    Extended: ['Constrained Baseline', 'Baseline'],
    Main: ['Constrained Baseline'],
    High: ['Constrained Baseline', 'Main'],
    'High 10': ['Constrained Baseline', 'Main', 'High', 'High 10 Intra'],
    'High 4:2:2': ['Constrained Baseline', 'Main', 'High', 'High 10', 'High 10 Intra', 'High 4:2:2 Intra'],
    'High 4:4:4 Predictive': [
      ...['Constrained Baseline', 'Main', 'High', 'High 10', 'High 10 Intra', 'High 4:2:2', 'High 4:2:2 Intra'],
      'CAVLC 4:4:4',
    ],
  },
  hevc: { Main: ['Main Still Picture'], 'Main 10': ['Main', 'Main Still Picture'] },
  av1: { High: ['Main'], Professional: ['Main', 'High'] },
};

/** True when a decoder of one of the profiles plays a stream of this profile. */
export function fitsProfiles(codec: string, profile: string, named: readonly string[]): boolean {
  const fits = named.flatMap((one) => [one, ...(decodes[codec]?.[one] ?? [])]);
  return fits.some((one) => one.toLowerCase() === profile.toLowerCase());
}
