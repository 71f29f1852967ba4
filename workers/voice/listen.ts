import type { ProbedFile, ProbedStream } from '#platform/media.ts';
import { readByFfmpeg } from '../analysis/run.ts';
import { type Speech, VOICE_RATE, VoiceDetector } from './detector.ts';

const PATIENCE_MS = 1_800_000;

/** The soundtrack that speech is looked for in: the default one. Undefined for a film without sound. */
export function soundtrackOf({ streams }: ProbedFile): ProbedStream | undefined {
  const sounds = streams.filter(({ kind }) => kind === 'audio');
  return sounds.find((stream) => stream.default) ?? sounds[0];
}

/** A part of a soundtrack. */
export interface Stretch {
  fromMs: number;
  lengthMs: number;
}

export interface Listening {
  /** Absolute path. */
  file: string;
  probe: ProbedFile;
  stream: Pick<ProbedStream, 'index'>;
  /** Absent for the whole soundtrack. */
  stretch?: Stretch;
  /** Called with the position in the stretch, ms. */
  progress?: (heardMs: number) => void;
  signal: AbortSignal;
}

/** Finds the speech of a soundtrack, on the film's clock. Undefined when it cannot be decoded. */
export async function listen(given: Listening): Promise<Speech[] | undefined> {
  const { file, probe, stream, stretch, signal } = given;
  const detector = await VoiceDetector.load();
  const reading = [
    ...(stretch ? ['-ss', seconds(stretch.fromMs), '-t', seconds(stretch.lengthMs)] : []),
    ...['-vn', '-sn', '-dn'],
  ];
  // Sound that begins later than the picture, or breaks off, keeps its times.
  const clock = ['-af', 'aresample=async=1:first_pts=0'];
  const writing = ['-map', `0:${stream.index}`, ...clock, '-ac', '1', '-ar', String(VOICE_RATE)];
  const outputs = [
    { writing: [...writing, '-c:a', 'pcm_f32le', '-f', 'f32le'], take: (pipe: Pipe) => judge(pipe, detector, given) },
  ];
  const read = await readByFfmpeg({ file, probe, reading, outputs, signal, patienceMs: PATIENCE_MS });
  const speech = detector.end();
  if (!read) return undefined;
  const from = stretch?.fromMs ?? 0;
  return speech.map(({ startMs, endMs }) => ({ startMs: startMs + from, endMs: endMs + from }));
}

type Pipe = AsyncIterable<Buffer>;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

async function judge(pipe: Pipe, detector: VoiceDetector, { progress }: Listening): Promise<void> {
  let left: Buffer = Buffer.alloc(0);
  let heard = 0;
  for await (const chunk of pipe) {
    const bytes = left.length > 0 ? Buffer.concat([left, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % 4);
    // A copy: views of floats must begin at a multiple of four.
    detector.add(new Float32Array(new Uint8Array(bytes.subarray(0, whole)).buffer));
    left = bytes.subarray(whole);
    heard += whole / 4;
    progress?.((heard / VOICE_RATE) * 1000);
  }
}
