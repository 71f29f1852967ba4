import type { Log } from '#platform/log.ts';
import { ffmpegArguments, startFfmpeg } from './ffmpeg.ts';

export interface Encoder {
  /** libx264, nvenc, qsv or vaapi. */
  name: string;
  codec: string;
  options: string[];
  /** Filters after the others, such as the upload to the card's memory. */
  filters: string[];
  /** Options before the inputs. */
  device: string[];
  gpu: boolean;
}

export const SOFTWARE: Encoder = {
  name: 'libx264',
  codec: 'libx264',
  options: ['-preset', 'veryfast', '-crf', '22', '-sc_threshold', '0', '-forced-idr', '1'],
  filters: [],
  device: [],
  gpu: false,
};

/**
 * A card's parameter sets differ from the software's: each keyframe repeats its own, so that one may replace the other.
 */
const IN_BAND = ['-bsf:v', 'dump_extra=freq=keyframe'];
/** A busy machine takes its time. */
const TRIAL_MS = 20_000;
const RENDER_NODE = '/dev/dri/renderD128';

const CARDS: readonly Encoder[] = [
  {
    name: 'nvenc',
    codec: 'h264_nvenc',
    options: ['-preset', 'p3', '-rc', 'vbr', '-forced-idr', '1', '-no-scenecut', '1', '-bf', '0', ...IN_BAND],
    filters: [],
    device: [],
    gpu: true,
  },
  {
    name: 'qsv',
    codec: 'h264_qsv',
    options: ['-preset', 'veryfast', '-forced_idr', '1', '-bf', '0', ...IN_BAND],
    filters: ['format=nv12', 'hwupload=extra_hw_frames=32'],
    device: ['-init_hw_device', `qsv=card:${RENDER_NODE}`, '-filter_hw_device', 'card'],
    gpu: true,
  },
  {
    name: 'vaapi',
    codec: 'h264_vaapi',
    options: ['-rc_mode', 'VBR', '-bf', '0', ...IN_BAND],
    filters: ['format=nv12', 'hwupload'],
    device: ['-init_hw_device', `vaapi=card:${RENDER_NODE}`, '-filter_hw_device', 'card'],
    gpu: true,
  },
];

/**
 * The first card that encodes a few frames, otherwise software. `hardware` is the setting `transcode.hardware`. Throws
 * if software fails too, because such a worker would fail every session.
 */
export async function chooseEncoder(hardware: string, log: Log): Promise<Encoder> {
  for (const card of CARDS.filter((one) => hardware === 'auto' || hardware === one.name)) {
    const words = await tryEncoder(card);
    if (words === undefined) return card;
    log.debug({ encoder: card.name, words }, 'encoder does not work here');
  }
  const words = await tryEncoder(SOFTWARE);
  if (words !== undefined) throw new Error(`nothing encodes here: ${words}`);
  return SOFTWARE;
}

/** Undefined if it works, otherwise ffmpeg's output. */
export async function tryEncoder(encoder: Encoder, frames = 5): Promise<string | undefined> {
  const filters = ['format=yuv420p', ...encoder.filters].join(',');
  const options = [
    '-vf',
    filters,
    '-c:v',
    encoder.codec,
    ...encoder.options,
    ...['-profile:v', 'high', '-level:v', '40'],
    '-frames:v',
    String(frames),
    '-f',
    'null',
  ];
  const input = { file: 'testsrc2=s=320x240:r=25:d=1', options: ['-f', 'lavfi'] };
  const command = { inputs: [input], outputs: [{ target: 'pipe:1', options, rendition: 'v0' }] };
  const child = await startFfmpeg(ffmpegArguments(command, encoder.device), { outputs: 1, gpu: true });
  const timer = setTimeout(() => child.kill(), TRIAL_MS);
  for (const output of child.outputs) output.resume();
  const { code, words } = await child.ended;
  clearTimeout(timer);
  return code === 0 ? undefined : words.trim() || `exit ${code}`;
}
