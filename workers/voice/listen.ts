import type { ProbedFile, ProbedStream } from '#platform/media.ts';
import { readByFfmpeg } from '../analysis/run.ts';
import { type Speech, VOICE_RATE, VoiceDetector } from './detector.ts';

const PATIENCE_MS = 1_800_000;

/** The soundtrack that speech is looked for in: the default one. Undefined for a film without sound. */
export function soundtrackOf({ streams }: ProbedFile): ProbedStream | undefined {
  const sounds = streams.filter(({ kind }) => kind === 'audio');
  return sounds.find((stream) => stream.default) ?? sounds[0];
}

export interface Listening {
  /** Absolute path. */
  file: string;
  probe: ProbedFile;
  stream: Pick<ProbedStream, 'index'>;
  /** Called with the length that was listened to, ms. */
  progress?: (heardMs: number) => void;
  signal: AbortSignal;
}

/** Parts of a soundtrack that have one length. */
export interface Stretches {
  /** Beginnings, ms. */
  starts: readonly number[];
  lengthMs: number;
}

const WITHOUT_PICTURES = ['-vn', '-sn', '-dn'];
/** Sound that begins later than the picture, or breaks off, keeps its times. */
const clockOf = (format: 'flt' | 's16'): string =>
  `aresample=${VOICE_RATE}:async=1:first_pts=0,aformat=sample_fmts=${format}:channel_layouts=mono`;
const FORMS = { flt: ['-c:a', 'pcm_f32le', '-f', 'f32le'], s16: ['-c:a', 'pcm_s16le', '-f', 's16le'] } as const;

/** Finds the speech of a soundtrack, on the film's clock. Undefined when it cannot be decoded. */
export async function listen(given: Listening): Promise<Speech[] | undefined> {
  const detector = await VoiceDetector.load();
  const take = (pipe: Pipe): Promise<void> => eachPart(pipe, given, (samples) => detector.add(samples));
  const read = await decodeTrack(given, { format: 'flt', take });
  return read ? detector.end() : undefined;
}

interface TrackDecoding {
  /** Floats or integers of two bytes. */
  format: 'flt' | 's16';
  /** Absent for the whole soundtrack. */
  lengthMs?: number;
  take: (pipe: Pipe) => Promise<void>;
}

/** Decodes a soundtrack from its beginning, to one channel. False when it cannot be decoded. */
export function decodeTrack(given: Listening, { format, lengthMs, take }: TrackDecoding): Promise<boolean> {
  const reading = [...(lengthMs === undefined ? [] : ['-t', seconds(lengthMs)]), ...WITHOUT_PICTURES];
  const writing = ['-map', `0:${given.stream.index}`, '-af', clockOf(format), ...FORMS[format]];
  return decode(given, { reading, writing, take });
}

/**
 * Finds the speech of some stretches, on the film's clock. One ffmpeg reads all of them: its start takes as much of the processor as
 * 40 seconds of sound.
 */
export async function listenToStretches(given: Listening, stretches: Stretches): Promise<Speech[] | undefined> {
  const { starts, lengthMs } = stretches;
  const [reading = [], ...again] = starts.map((ms) => [
    '-ss',
    seconds(ms),
    '-t',
    seconds(lengthMs),
    ...WITHOUT_PICTURES,
  ]);
  const detector = await VoiceDetector.load();
  const whole = (lengthMs * VOICE_RATE) / 1000;
  const speech: Speech[] = [];
  let [at, left] = [0, whole];
  const add = (samples: Float32Array): void => {
    const part = samples.subarray(0, left);
    detector.add(part);
    left -= part.length;
    if (left > 0) return;
    speech.push(...shifted(detector.end(), starts[at] ?? 0));
    detector.restart();
    [at, left] = [at + 1, whole];
    if (part.length < samples.length) add(samples.subarray(part.length));
  };
  const writing = ['-filter_complex', graphOf(given.stream.index, stretches), '-map', '[all]', ...FORMS.flt];
  const read = await decode(given, { reading, again, writing, take: (pipe) => eachPart(pipe, given, add) });
  return read && at === starts.length ? speech : undefined;
}

/** The stretches one after the other, each of exactly its length. */
function graphOf(index: number, { starts, lengthMs }: Stretches): string {
  const length = `apad=whole_dur=${seconds(lengthMs)},atrim=end=${seconds(lengthMs)}`;
  const parts = starts.map((_, n) => `[${n}:${index}]${clockOf('flt')},${length}[s${n}]`);
  const names = starts.map((_, n) => `[s${n}]`).join('');
  return [...parts, `${names}concat=n=${starts.length}:v=0:a=1[all]`].join(';');
}

const shifted = (speech: readonly Speech[], ms: number): Speech[] =>
  speech.map(({ startMs, endMs }) => ({ startMs: startMs + ms, endMs: endMs + ms }));

type Pipe = AsyncIterable<Buffer>;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

interface Decoding {
  reading: readonly string[];
  again?: readonly (readonly string[])[];
  writing: readonly string[];
  take: (pipe: Pipe) => Promise<void>;
}

function decode({ file, probe, signal }: Listening, { writing, take, ...inputs }: Decoding): Promise<boolean> {
  return readByFfmpeg({ file, probe, ...inputs, outputs: [{ writing, take }], signal, patienceMs: PATIENCE_MS });
}

/** Passes on the samples of a pipe. */
async function eachPart(pipe: Pipe, { progress }: Listening, add: (samples: Float32Array) => void): Promise<void> {
  let left: Buffer = Buffer.alloc(0);
  let heard = 0;
  for await (const chunk of pipe) {
    const bytes = left.length > 0 ? Buffer.concat([left, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % 4);
    // A copy: views of floats must begin at a multiple of four.
    add(new Float32Array(new Uint8Array(bytes.subarray(0, whole)).buffer));
    left = bytes.subarray(whole);
    heard += whole / 4;
    progress?.((heard / VOICE_RATE) * 1000);
  }
}
