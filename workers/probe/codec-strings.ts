interface Codec {
  codec: string;
  profile?: string;
  level?: number;
  bitDepth?: number;
}

/** profile_idc and constraint bytes of H.264 profiles by ffprobe's names. */
const AVC: Readonly<Record<string, string>> = {
  'Constrained Baseline': '42e0',
  Baseline: '4200',
  Main: '4d00',
  Extended: '5800',
  High: '6400',
  'High 10': '6e00',
  'High 4:2:2': '7a00',
  'High 4:4:4 Predictive': 'f400',
};
const HEVC: Readonly<Record<string, string>> = { Main: '1.6', 'Main 10': '2.4', Rext: '4.10' };
const AAC: Readonly<Record<string, string>> = { LC: '2', 'HE-AAC': '5', 'HE-AACv2': '29', Main: '1', 'xHE-AAC': '42' };
const AV1: Readonly<Record<string, number>> = { Main: 0, High: 1, Professional: 2 };
const PLAIN: Readonly<Record<string, string>> = {
  ac3: 'ac-3',
  eac3: 'ec-3',
  opus: 'opus',
  vorbis: 'vorbis',
  flac: 'flac',
  alac: 'alac',
  mp3: 'mp4a.40.34',
  vp8: 'vp8',
};
const two = (value: number): string => String(value).padStart(2, '0');

const RULES: Readonly<Record<string, (codec: Required<Codec>) => string | undefined>> = {
  h264: ({ profile, level }) =>
    AVC[profile] && level > 0 ? `avc1.${AVC[profile]}${level.toString(16).padStart(2, '0')}` : undefined,
  hevc: ({ profile, level }) => (HEVC[profile] && level > 0 ? `hvc1.${HEVC[profile]}.L${level}.B0` : undefined),
  av1: ({ profile, level, bitDepth }) => `av01.${AV1[profile] ?? 0}.${two(Math.max(0, level))}M.${two(bitDepth)}`,
  vp9: ({ profile, bitDepth }) => `vp09.${two(Number(/\d/.exec(profile)?.[0] ?? 0))}.10.${two(bitDepth)}`,
  aac: ({ profile }) => `mp4a.40.${AAC[profile] ?? '2'}`,
};

/** RFC 6381 string from ffprobe's data; the codec's own header, if read, is more precise. */
export function codecStringOf(codec: Codec): string | undefined {
  const rule = RULES[codec.codec];
  if (!rule) return PLAIN[codec.codec];
  return rule({
    codec: codec.codec,
    profile: codec.profile ?? '',
    level: codec.level ?? 0,
    bitDepth: codec.bitDepth ?? 8,
  });
}
