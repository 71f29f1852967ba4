// What a piece of a stream holds: ffprobe reads it from a pipe, in a sandbox.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { DECODERS } from '../probe/decoders.ts';

const LIMITS = [`--as=${768 << 20}`, '--cpu=20', '--core=0', '--fsize=0', '--nofile=32'];
const ANSWER_MS = 15_000;

const Streams = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string().default(''),
      codec_name: z.string().optional(),
      width: z.int().optional(),
      height: z.int().optional(),
      field_order: z.string().optional(),
    }),
  ),
});

export interface ProbedBytes {
  videoCodec?: string;
  audioCodecs: string[];
  width?: number;
  height?: number;
  interlaced?: boolean;
}

/** `mpegts` or `mov`, by the first bytes; undefined for anything else. */
export function containerOf(bytes: Buffer): 'mpegts' | 'mov' | undefined {
  if (bytes[0] === 0x47 && (bytes.length < 189 || bytes[188] === 0x47)) return 'mpegts';
  return /^(ftyp|styp|moof|moov|sidx)$/.test(bytes.toString('latin1', 4, 8)) ? 'mov' : undefined;
}

/** Undefined for bytes that hold no picture and no sound. */
export async function probeBytes(bytes: Buffer, signal: AbortSignal): Promise<ProbedBytes | undefined> {
  const demuxer = containerOf(bytes);
  if (!demuxer) return undefined;
  const args = [
    '-v',
    'error',
    '-protocol_whitelist',
    'pipe',
    '-f',
    demuxer,
    '-codec_whitelist',
    DECODERS,
    '-threads',
    '1',
  ];
  const show = ['-of', 'json', '-show_streams', '-i', 'pipe:0'];
  const child = spawn('prlimit', [...LIMITS, '--', 'ffprobe', ...args, ...show], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    killSignal: 'SIGKILL',
  });
  child.on('error', () => undefined); // the answer is then empty
  child.stdin.on('error', () => undefined); // it may end before it read all
  child.stdin.end(bytes);
  const found = Streams.safeParse(parsed(await text(child.stdout)));
  return found.success ? described(found.data.streams) : undefined;
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

function described(streams: z.output<typeof Streams>['streams']): ProbedBytes | undefined {
  const video = streams.find(({ codec_type: type, codec_name: name }) => type === 'video' && name);
  const sounds = streams
    .filter(({ codec_type: type }) => type === 'audio')
    .flatMap(({ codec_name: name }) => name ?? []);
  if (!video && sounds.length === 0) return undefined;
  const { codec_name: videoCodec, width, height, field_order: order } = video ?? {};
  return {
    ...(videoCodec && { videoCodec }),
    audioCodecs: [...new Set(sounds)].slice(0, 20),
    ...(width && { width }),
    ...(height && { height }),
    ...(order && order !== 'unknown' && { interlaced: order !== 'progressive' }),
  };
}
