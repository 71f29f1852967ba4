import { z } from 'zod';
import type { Hdr, ProbedChapter, ProbedFile, ProbedStream } from '#platform/media.ts';
import { codecStringOf } from './codec-strings.ts';
import { ProbeError } from './fault.ts';
import { languageTag } from './languages.ts';
import { attachmentCodec } from './matroska/attachments.ts';
import { contentTags, PROBE_VERSION } from './probed.ts';
import type { Sniffed } from './sniff.ts';

const Numeric = z.coerce.number();
const Tags = z.record(z.string(), z.string()).default({});
const Stream = z.object({
  index: z.number(),
  codec_type: z.string().default(''),
  codec_name: z.string().optional(),
  profile: z.string().optional(),
  level: z.number().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  pix_fmt: z.string().optional(),
  field_order: z.string().optional(),
  color_transfer: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  bits_per_raw_sample: Numeric.optional(),
  bit_rate: Numeric.optional(),
  channels: z.number().optional(),
  channel_layout: z.string().optional(),
  sample_rate: Numeric.optional(),
  start_time: Numeric.optional(),
  disposition: z.record(z.string(), z.number()).default({}),
  side_data_list: z.array(z.looseObject({ side_data_type: z.string(), rotation: z.number().optional() })).default([]),
  tags: Tags,
});
type Stream = z.output<typeof Stream>;

const Answer = z.object({
  streams: z.array(Stream).default([]),
  chapters: z.array(z.object({ start_time: Numeric, end_time: Numeric, tags: Tags })).default([]),
  format: z.object({
    duration: Numeric.optional(),
    start_time: Numeric.optional(),
    size: Numeric.optional(),
    tags: Tags,
  }),
});

/** ffmpeg's names that differ from ours. */
const WORDS: Readonly<Record<string, string>> = {
  mpeg2video: 'mpeg2',
  mpeg1video: 'mpeg1',
  hdmv_pgs_subtitle: 'pgs',
  dvd_subtitle: 'vobsub',
  ssa: 'ass',
};

/** Converts ffprobe's JSON; `size` is that of the file. */
export function fileOf(json: string, sniffed: Sniffed): ProbedFile {
  const { streams, chapters, format } = Answer.parse(JSON.parse(json));
  if (streams.length === 0) throw new ProbeError('corrupt', 'no streams');
  const startMs = Math.round((format.start_time ?? 0) * 1000);
  const durationMs = lengthOf(format.duration ?? 0, startMs, sniffed);
  if (durationMs <= 0) throw new ProbeError('corrupt', 'no duration');
  return {
    container: containerOf(sniffed, streams, format.tags),
    durationMs,
    startMs,
    bitrate: Math.round(((format.size ?? 0) * 8000) / durationMs),
    streams: streams.flatMap((stream) => streamOf(stream) ?? []),
    chapters: chapters.map((chapter): ProbedChapter => {
      const [from, to] = [chapter.start_time, chapter.end_time].map((s) => Math.round(s * 1000) - startMs);
      return { startMs: from ?? 0, endMs: to ?? 0, title: chapter.tags.title ?? '' };
    }),
    tags: contentTags(format.tags),
    probeVersion: PROBE_VERSION,
  };
}

/** For Matroska ffprobe reports the end time, for all others the duration. */
function lengthOf(seconds: number, startMs: number, { container }: Sniffed): number {
  const ms = Math.round(seconds * 1000);
  return container === 'matroska' && startMs > 0 && ms > startMs ? ms - startMs : ms;
}

const WEBM = new Set(['vp8', 'vp9', 'av1', 'opus', 'vorbis', 'webvtt']);

function containerOf({ container }: Sniffed, streams: readonly Stream[], tags: Record<string, string>): string {
  if (container !== 'matroska') return container;
  // ffprobe does not report the document type; streams that WebM allows, without a Matroska muxer's name, mean WebM.
  const webm = streams.every((stream) => WEBM.has(stream.codec_name ?? '')) && !/matroska/i.test(tags.encoder ?? '');
  return webm ? 'webm' : 'matroska';
}

function streamOf(stream: Stream): ProbedStream | undefined {
  const flags = stream.disposition;
  const common = {
    index: stream.index,
    codec: wordOf(stream),
    ...optional('language', languageTag(tagOf(stream.tags, 'language'))),
    ...optional('title', tagOf(stream.tags, 'title')),
    default: flags.default === 1,
    forced: flags.forced === 1,
    hearingImpaired: flags.hearing_impaired === 1,
    ...(flags.original === 1 && { original: true }),
  };
  switch (stream.codec_type) {
    case 'video':
      return { ...common, kind: 'video', ...(flags.attached_pic === 1 ? coverOf(stream) : videoOf(stream)) };
    case 'audio':
      return { ...common, kind: 'audio', ...audioOf(stream) };
    case 'subtitle':
      return { ...common, kind: 'subtitle' };
    case 'attachment':
      return {
        ...common,
        kind: 'attachment',
        ...attachedOf(stream),
        codec: attachmentCodec(tagOf(stream.tags, 'mimetype') ?? ''),
      };
    default:
      return undefined;
  }
}

function wordOf({ codec_name: name = 'none', profile = '' }: Stream): string {
  if (name === 'dts' && profile.startsWith('DTS-HD')) return 'dtshd';
  if (name.startsWith('pcm_')) return 'pcm';
  return WORDS[name] ?? name;
}

function attachedOf({ tags }: Stream): Partial<ProbedStream> {
  return { ...optional('fileName', tagOf(tags, 'filename')), ...optional('mime', tagOf(tags, 'mimetype')) };
}

function coverOf(stream: Stream): Partial<ProbedStream> {
  return { attachedPicture: true, ...attachedOf(stream) };
}

function videoOf(stream: Stream): Partial<ProbedStream> {
  const rotation = rotationOf(stream);
  const bitDepth = depthOf(stream);
  const rate = rateOf(stream.avg_frame_rate);
  return {
    ...optional('profile', known(stream.profile)),
    ...optional('level', stream.level !== undefined && stream.level >= 0 ? stream.level : undefined),
    ...optional('width', stream.width),
    ...optional('height', stream.height),
    ...optional('pixelFormat', stream.pix_fmt),
    ...optional('bitDepth', bitDepth),
    ...optional('frameRate', rate),
    ...optional('hdr', hdrOf(stream)),
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order ?? ''),
    ...optional('rotation', rotation === 0 ? undefined : rotation),
    ...bitrateOf(stream),
    ...optional(
      'codecString',
      codecStringOf({
        codec: wordOf(stream),
        ...optional('profile', stream.profile),
        ...optional('level', stream.level),
        ...optional('bitDepth', bitDepth),
      }),
    ),
  };
}

function audioOf(stream: Stream): Partial<ProbedStream> {
  return {
    ...optional('profile', known(stream.profile)),
    ...optional('channels', stream.channels),
    ...optional('channelLayout', known(stream.channel_layout)),
    ...optional('sampleRate', stream.sample_rate),
    ...optional('bitDepth', stream.bits_per_raw_sample),
    ...bitrateOf(stream),
    ...optional('codecString', codecStringOf({ codec: wordOf(stream), ...optional('profile', stream.profile) })),
  };
}

function bitrateOf({ bit_rate: declared, tags }: Stream): { bitrate?: number } {
  const counted = Number(tagOf(tags, 'bps') ?? tagOf(tags, 'bps-eng'));
  return optional('bitrate', declared ?? (counted > 0 ? counted : undefined));
}

function hdrOf(stream: Stream): Hdr | undefined {
  const side = stream.side_data_list.map((data) => data.side_data_type);
  if (side.some((type) => type.startsWith('DOVI'))) return 'dolby-vision';
  if (stream.color_transfer === 'smpte2084')
    return side.some((type) => type.includes('HDR10+')) ? 'hdr10plus' : 'hdr10';
  return stream.color_transfer === 'arib-std-b67' ? 'hlg' : undefined;
}

function depthOf({ bits_per_raw_sample: raw, pix_fmt: format }: Stream): number | undefined {
  if (raw !== undefined && raw > 0) return raw;
  if (format === undefined) return undefined;
  return Number(/(?:p|gray|gbrp|p0)(9|10|12|14|16)(?:le|be)?$/.exec(format)?.[1] ?? 8);
}

/** Clockwise, as a player rotates; ffprobe's is counter-clockwise. */
function rotationOf(stream: Stream): number {
  const turned = stream.side_data_list.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  return (((-Math.round(turned) % 360) + 360) % 360) % 360;
}

function rateOf(fraction: string | undefined): number | undefined {
  const [over = 0, under = 0] = (fraction ?? '').split('/').map(Number);
  return over > 0 && under > 0 ? Math.round((over / under) * 1000) / 1000 : undefined;
}

function known(value: string | undefined): string | undefined {
  return value === 'unknown' ? undefined : value;
}

function tagOf(tags: Record<string, string>, name: string): string | undefined {
  const key = Object.keys(tags).find((candidate) => candidate.toLowerCase() === name);
  return key === undefined ? undefined : tags[key];
}

/** An object with the member, or without it if the value is undefined. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
