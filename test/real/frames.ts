import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Unit {
  at: number;
  seconds: number;
  sum: string;
}

/** The output of ffmpeg for the first video and the first audio track, in seconds; sound alone is the first. */
export interface Played {
  video: Unit[];
  audio: Unit[];
  /** Its warnings. */
  words: string;
}

export interface Input {
  url: string;
  headers?: Record<string, string>;
  /** Seek there first, in seconds. */
  from?: number;
  /** Packets as they are, instead of decoded frames. */
  copy?: boolean;
}

/** Plays to the end; throws unless ffmpeg ends with 0. */
export async function play({ url, headers = {}, from, copy = false }: Input): Promise<Played> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { stdout, stderr } = await run(
    'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', '-threads', '2'],
      ...(lines.length > 0 ? ['-headers', lines.join('')] : []),
      ...(from === undefined ? [] : ['-ss', String(from), '-copyts']),
      ...['-i', url, '-map', '0:v:0?', '-map', '0:a:0?'],
      ...(copy ? ['-c', 'copy'] : ['-vf', 'scale=64:36', '-fps_mode', 'passthrough', '-enc_time_base', '-1']),
      ...['-f', 'framecrc', '-'],
    ],
    { maxBuffer: 256 << 20, timeout: 300_000 },
  );
  return { ...unitsOf(stdout), words: stderr };
}

function unitsOf(text: string): Pick<Played, 'video' | 'audio'> {
  const bases = new Map<string, number>();
  const units: Unit[][] = [[], []];
  for (const line of text.split('\n')) {
    const [, track = '', up, down] = /^#tb (\d): (\d+)\/(\d+)/.exec(line) ?? [];
    if (up) bases.set(track, Number(up) / Number(down));
    if (line === '' || line.startsWith('#')) continue;
    const [index = '', , pts, duration, , sum = ''] = line.split(',').map((part) => part.trim());
    const base = bases.get(index) ?? Number.NaN;
    units[Number(index)]?.push({ at: Number(pts) * base, seconds: Number(duration) * base, sum });
  }
  const [video = [], audio = []] = units.map((list) => list.sort((a, b) => a.at - b.at));
  return { video, audio };
}

export interface Span {
  from: number;
  to: number;
  /** Longest step from one unit to the next. */
  step: number;
  unit: number;
  count: number;
}

export function spanOf(units: readonly Unit[]): Span {
  const steps = units.slice(1).map((unit, i) => unit.at - (units[i]?.at ?? 0));
  const sorted = [...steps].sort((a, b) => a - b);
  const unit = sorted[Math.floor(sorted.length / 2)] ?? units[0]?.seconds ?? 0;
  return {
    from: units[0]?.at ?? Number.NaN,
    to: (units.at(-1)?.at ?? Number.NaN) + unit,
    step: Math.max(0, ...steps),
    unit,
    count: units.length,
  };
}

/** Duration of the container, in milliseconds, and the rate of its pictures, as ffprobe reports them. */
export async function measure(file: string): Promise<{ durationMs: number; frameMs: number }> {
  const wanted = [
    '-v',
    'error',
    '-show_entries',
    'format=format_name,start_time,duration:stream=codec_type,avg_frame_rate',
    '-of',
    'json',
  ];
  const { stdout } = await run('ffprobe', [...wanted, file]);
  const { format, streams } = JSON.parse(stdout) as {
    format: { format_name: string; start_time: string; duration: string };
    streams: { codec_type: string; avg_frame_rate: string }[];
  };
  const rate = streams.find((one) => one.codec_type === 'video')?.avg_frame_rate ?? '25/1';
  const [up = 25, down = 1] = rate.split('/').map(Number);
  // For Matroska ffprobe reports where the last frame ends, not how long after the first.
  const before = format.format_name.startsWith('matroska') ? Math.max(0, Number(format.start_time)) : 0;
  return { durationMs: (Number(format.duration) - before) * 1000, frameMs: (1000 * down) / up };
}
