import {
  FRAME_SAMPLES,
  firstAudioFrame,
  firstFrame,
  h264Level,
  PEAK,
  SAMPLE_RATE,
  type StreamPlan,
  segmentCount,
  segmentStartMs,
  TRANSPORT_OFFSET_MS,
} from '#areas/streaming/public.ts';
import { ffmpegInput, ffmpegProtocols } from '#platform/media-bytes.ts';
import { DECODERS } from '#workers/probe/decoders.ts';
import type { Encoder } from './encoders.ts';
import type { Command } from './ffmpeg.ts';
import { pictureFilters, pictureGraph, type Words } from './filters.ts';

type Video = StreamPlan['video'][number];
type Audio = StreamPlan['audio'][number];

export interface Run {
  plan: StreamPlan;
  /** The first segment that must be complete. */
  from: number;
  /** The variant being fetched, if there is video. */
  video?: string | undefined;
  /** The audio rendition being fetched. */
  audio?: string | undefined;
  /** The source as an absolute path. */
  file: string;
  /** Text to burn in. */
  words?: Words | undefined;
  /** Times of the keyframes, ms of the file's clock. */
  keyframes: readonly number[];
  encoder: Encoder;
  /** Threads of the video encoder; 0 for no limit. */
  threads: number;
}

/** Formats whose index lets ffmpeg seek to a keyframe; in others it lands in between and reads on. */
const INDEXED = new Set(['matroska', 'webm', 'mp4']);
const DEMUXERS: Record<string, string> = {
  matroska: 'matroska',
  webm: 'matroska',
  mp4: 'mov',
  mpegts: 'mpegts',
  mpegps: 'mpeg',
  avi: 'avi',
  asf: 'asf',
  flv: 'flv',
  ogg: 'ogg',
  flac: 'flac',
  mp3: 'mp3',
  aac: 'aac',
  wav: 'wav',
};
/** `place` is a path, or the address of a range reader. */
const guards = (place: string): string[] => [
  ...['-protocol_whitelist', ffmpegProtocols(place), '-codec_whitelist', DECODERS],
];
const WHITELIST = [...new Set(Object.values(DEMUXERS))].join(',');

/**
 * Options of a foreign input: that file only, known decoders, and the demuxer of our container name, so that a file
 * cannot choose another. Nested inputs, and containers unknown to us, are limited to the known demuxers.
 */
export function guardsOf(container: string, place: string): string[] {
  const demuxer = DEMUXERS[container];
  return [...guards(place), '-format_whitelist', demuxer ?? WHITELIST, ...(demuxer ? ['-f', demuxer] : [])];
}

/** The same for a text file, which one of these demuxers reads. */
export const textGuards = (demuxers: string): string[] => [...guards(''), '-format_whitelist', demuxers];

/** Audio starts this long before a segment, so that decoder, resampler and encoder are in a steady state. */
const SOUND_LEAD_MS = 1500;
/** A keyframe this long before the segment includes the audio lead in the same pass. */
const SHARED_LEAD_MS = 700;

/** Text rendered as pictures is sent once, when it begins, which may be this long before the segment. */
const WORDS_LEAD_MS = 10_000;

const drawsWords = ({ burnIn }: Video): boolean => burnIn?.kind === 'picture';

export function commandOf(run: Run): Command {
  const { plan } = run;
  const video = plan.video.find((one) => one.id === run.video);
  const audio = plan.audio.find((one) => one.id === run.audio);
  const { inputs, sound } = inputsFor(run, video, audio);
  if (plan.container === 'ts' && video) {
    const options = [...videoOutput(run, video), ...(audio ? audioOutput(run, audio, sound) : []), ...TRANSPORT];
    return { inputs, outputs: [{ target: 'pipe:1', options, rendition: video.id }] };
  }
  const outputs: Command['outputs'] = [];
  if (video) {
    outputs.push({ target: 'pipe:1', options: [...videoOutput(run, video), ...FRAGMENTS], rendition: video.id });
  }
  if (audio) {
    const options = [...audioOutput(run, audio, sound), ...FRAGMENTS, '-frag_duration', '250000'];
    outputs.push({ target: video ? 'pipe:3' : 'pipe:1', options, rendition: audio.id });
  }
  return { inputs, outputs };
}

/** One input; a second one for audio if the video's starts too late for it. `sound` is its number. */
function inputsFor(
  run: Run,
  video: Video | undefined,
  audio: Audio | undefined,
): { inputs: Command['inputs']; sound: number } {
  const startMs = segmentStartMs(run.plan, run.from);
  const soundMs = Math.max(startMs - SOUND_LEAD_MS, 0);
  if (!video) return { inputs: [input(run, soundMs, ['-vn', '-sn'])], sound: 0 };
  const picture = pictureSeek(run, video, startMs);
  const inputs = [input(run, picture.seekMs, drawsWords(video) ? [] : ['-sn'])];
  if (!audio || picture.landsMs <= Math.max(startMs - SHARED_LEAD_MS, 0)) return { inputs, sound: 0 };
  return { inputs: [...inputs, input(run, soundMs, ['-vn', '-sn'])], sound: 1 };
}

/** Of every file that is read: it may have become another since it was looked at. */
/**
 * The file's clock, whose first timestamp is 0. For a transport stream ffmpeg would otherwise start at the first of the
 * tracks that are read, which differs for audio alone, unless the offset differs by a microsecond.
 */
export const FILE_CLOCK = ['-copyts', '-start_at_zero', '-itsoffset', '0.000001'];

function input(run: Run, seekMs: number, options: string[]): Command['inputs'][number] {
  return {
    file: ffmpegInput(run.file),
    options: [
      ...guardsOf(run.plan.source.container, run.file),
      ...FILE_CLOCK,
      '-noaccurate_seek',
      ...(seekMs > 0 ? ['-ss', (seekMs / 1000).toFixed(3)] : []),
      ...['-dn', ...options],
    ],
  };
}

/** The seek position that finds the last keyframe at or before `startMs`, and where it lands. */
function pictureSeek(run: Run, video: Video, startMs: number): { seekMs: number; landsMs: number } {
  if (startMs === 0) return { seekMs: 0, landsMs: 0 };
  // Copied video needs no decoding: one keyframe earlier costs nothing and includes the audio lead.
  const leadMs = video.action === 'copy' ? SOUND_LEAD_MS : drawsWords(video) ? WORDS_LEAD_MS : 0;
  const wanted = Math.max(startMs - leadMs, 0);
  const before = run.keyframes.findLastIndex((at) => at <= wanted + 1);
  const lands = run.keyframes[before];
  if (lands === undefined) {
    const lead = INDEXED.has(run.plan.source.container) ? 0 : 10_000;
    return { seekMs: Math.max(wanted - lead, 0), landsMs: wanted };
  }
  if (!INDEXED.has(run.plan.source.container)) return { seekMs: Math.max(lands - 1500, 0), landsMs: lands };
  // ffmpeg steps back 0.13 s for streams with B-frames: a position shortly after the keyframe finds that one.
  const following = run.keyframes[before + 1] ?? Number.POSITIVE_INFINITY;
  const behind = Math.min(lands + 200, (lands + following) / 2);
  return { seekMs: Math.max(Math.min(wanted, behind), lands + Math.min(150, behind - lands)), landsMs: lands };
}

const COMMON = ['-map_metadata', '-1', '-map_chapters', '-1', '-avoid_negative_ts', 'disabled', '-flush_packets', '1'];
const FRAGMENTS = [
  ...COMMON,
  ...['-f', 'mp4', '-use_editlist', '0', '-strict', '-2'],
  ...['-movflags', 'frag_keyframe+empty_moov+delay_moov+default_base_moof+frag_discont+skip_trailer'],
];
const TRANSPORT = [
  ...COMMON,
  ...['-f', 'mpegts', '-mpegts_copyts', '1', '-output_ts_offset', String(TRANSPORT_OFFSET_MS / 1000)],
  ...['-muxdelay', '0', '-muxpreload', '0', '-pes_payload_size', '0'],
];

function videoOutput(run: Run, video: Video): string[] {
  if (video.action === 'copy') {
    const tag = video.sourceCodec === 'hevc' ? ['-tag:v', 'hvc1'] : [];
    return ['-map', `0:${video.streamIndex}`, '-c:v', 'copy', ...(run.plan.container === 'fmp4' ? tag : [])];
  }
  const { plan, encoder } = run;
  const { num, den } = plan.rate ?? { num: 25_000, den: 1000 };
  const first = firstFrame(plan, run.from);
  const count = Math.max(firstFrame(plan, segmentCount(plan)) - first, 1);
  const filters = { plan, video, first, count, lead: leadFrames(run, video), words: run.words };
  const graph = pictureGraph(filters, encoder.filters);
  const chain = [...pictureFilters(filters), ...encoder.filters].join(',');
  const [fragments, tick] = plan.container === 'fmp4' ? [true, `${den}/${num}`] : [false, `1/${num}`];
  const rate = String(video.bitrate);
  return [
    ...(graph ? ['-filter_complex', graph, '-map', '[picture]'] : ['-map', `0:${video.streamIndex}`, '-vf', chain]),
    ...['-c:v', encoder.codec, ...encoder.options, '-threads:v', String(run.threads)],
    ...['-profile:v', 'high', '-level:v', String(h264Level(video))],
    ...(encoder.gpu ? ['-b:v', rate] : []),
    ...['-maxrate', rate, '-bufsize', String(Math.round((PEAK * 2 - 2) * video.bitrate))],
    ...['-g', '600', '-force_key_frames:v', forcedFrames(plan, first)],
    ...['-fps_mode:v', 'passthrough', '-enc_time_base:v', tick],
    ...(fragments ? ['-video_track_timescale', String(num)] : []),
  ];
}

/** Frames from the decoder's first keyframe to the first wanted frame, with two to spare. */
function leadFrames(run: Run, video: Video): number {
  const startMs = segmentStartMs(run.plan, run.from);
  if (run.from === 0 || run.keyframes.every((at) => at > startMs)) return 0;
  const { num, den } = run.plan.rate ?? { num: 25_000, den: 1000 };
  const { landsMs } = pictureSeek(run, video, startMs);
  return Math.min(Math.ceil(((startMs - landsMs) * num) / 1000 / den) + 2, firstFrame(run.plan, run.from));
}

/**
 * True for the first frame of each 2-second slot, by its own time alone: the same frames after any seek. Uses `n`,
 * because `t` restarts with each run.
 */
function forcedFrames(plan: StreamPlan, first: number): string {
  const { num, den } = plan.rate ?? { num: 25_000, den: 1000 };
  const slot = (n: string): string => `floor((((${n})+${first})*${den}+${plan.phase}+0.05)/${2 * num})`;
  return `expr:gt(${slot('n')},${slot('n-1')})`;
}

/**
 * Above a fifth (standard) or a twentieth (night) of full scale the level grows more slowly; everything is then
 * amplified to just below full scale.
 */
const COMPRESSORS = {
  standard: 'acompressor=threshold=0.2:ratio=2:attack=20:release=250:makeup=1.5',
  night: 'acompressor=threshold=0.05:ratio=5:attack=10:release=250:makeup=3',
};

function audioOutput(run: Run, audio: Audio, inputNumber: number): string[] {
  const map = ['-map', `${inputNumber}:${audio.streamIndex}`];
  if (audio.action === 'copy') {
    const unwrapped = audio.sourceCodec === 'aac' && run.plan.container === 'fmp4';
    return [...map, '-c:a', 'copy', ...(unwrapped ? ['-bsf:a', 'aac_adtstoasc'] : [])];
  }
  const { plan } = run;
  // Eight frames of lead: the encoder's own priming is among them and is dropped with them.
  const first = Math.max(firstAudioFrame(plan, run.from) - 8, 0) * FRAME_SAMPLES;
  const samples = (firstAudioFrame(plan, segmentCount(plan)) + 1) * FRAME_SAMPLES - first;
  const filters = [
    'apad',
    `aresample=${SAMPLE_RATE}`, // first_pts counts input samples, so a second resampler must get our rate
    `aresample=${SAMPLE_RATE}:async=1:min_hard_comp=0.02:first_pts=${first}`,
    `atrim=end_sample=${samples}`,
    ...(audio.dynamicRange ? [COMPRESSORS[audio.dynamicRange]] : []),
  ];
  return [
    ...[...map, '-af', filters.join(','), '-c:a', 'aac', '-aac_coder', 'fast'],
    ...['-b:a', String(audio.bitrate), '-ac', String(audio.channels)],
  ];
}
