import { type MediaConfig, openMedia } from '#areas/storage/public.ts';
import { type FileSource, findSource } from '#areas/streaming/public.ts';
import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import { collect, readByFfmpeg } from '../../analysis/run.ts';
import { type Speech, VOICE_RATE, VoiceDetector } from '../../voice/detector.ts';

const SAMPLE_BYTES = 2;
const PATIENCE_MS = 300_000;

/** A soundtrack that can be read. */
export interface Soundtrack {
  source: FileSource & { probe: ProbedFile };
  /** Absolute path. */
  file: string;
  index: number;
}

/** Opens a soundtrack; `unavailable` while its storage is, `gone` when the file or the track no longer exists. */
export async function openSoundtrack(
  deps: { db: Db; config: MediaConfig },
  { fileId, index }: { fileId: string; index: number },
): Promise<Soundtrack | 'unavailable' | 'gone'> {
  const source = await findSource(deps.db, fileId);
  const isThere = source?.probe?.streams.some((stream) => stream.index === index && stream.kind === 'audio');
  if (!source?.probe || !isThere) return 'gone';
  const place = await openMedia(deps, source);
  if (place.kind === 'unavailable') return 'unavailable';
  if (place.kind === 'absent') return 'gone';
  return { source: { ...source, probe: source.probe }, file: place.absolute, index };
}

/** Sound of one channel in samples of 16 bits, with its speech, ms from its beginning. */
export interface Sound {
  samples: Buffer;
  lengthMs: number;
  speech: Speech[];
  /** False when the reading broke off. */
  whole: boolean;
}

/** Decodes a part of a soundtrack and finds the speech in it. A part behind its end is empty. */
export async function readSound(
  { source, file, index }: Soundtrack,
  { fromMs, lengthMs, signal }: { fromMs: number; lengthMs: number; signal: AbortSignal },
): Promise<Sound> {
  let samples: Buffer = Buffer.alloc(0);
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    samples = await collect(output, bytesOf(lengthMs));
  };
  // Sound that begins later than the picture, or breaks off, keeps its times.
  const form = ['-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(VOICE_RATE)];
  const writing = ['-map', `0:${index}`, ...form, '-c:a', 'pcm_s16le', '-f', 's16le'];
  const reading = ['-ss', (fromMs / 1000).toFixed(3), '-t', (lengthMs / 1000).toFixed(3), '-vn', '-sn', '-dn'];
  const outputs = [{ writing, take }];
  const whole = await readByFfmpeg({ file, probe: source.probe, reading, outputs, signal, patienceMs: PATIENCE_MS });
  return { samples, lengthMs: Math.floor(samples.length / bytesOf(1)), speech: await speechIn(samples), whole };
}

const bytesOf = (ms: number): number => Math.floor((ms * VOICE_RATE) / 1000) * SAMPLE_BYTES;

/** The first part of sound. */
export function firstOf({ samples }: Sound, lengthMs: number): Buffer {
  return samples.subarray(0, bytesOf(lengthMs));
}

/** Speech of less than this in a part shows no language. */
const TELLING_MS = 3000;
const PART_MS = 30_000;

/** The half minute after the first speech, when there is enough speech in it to show its language. */
export function tellingPart({ samples, speech }: Pick<Sound, 'samples' | 'speech'>): Buffer | undefined {
  const fromMs = speech[0]?.startMs ?? 0;
  const toMs = fromMs + PART_MS;
  const spokenMs = speech.reduce((sum, { startMs, endMs }) => sum + Math.max(0, Math.min(endMs, toMs) - startMs), 0);
  return spokenMs > TELLING_MS ? samples.subarray(bytesOf(fromMs), bytesOf(toMs)) : undefined;
}

/** Of this process, which hears one stretch at a time. */
let detector: VoiceDetector | undefined;

async function speechIn(samples: Buffer): Promise<Speech[]> {
  detector ??= await VoiceDetector.load();
  detector.restart();
  const floats = new Float32Array(Math.floor(samples.length / SAMPLE_BYTES));
  for (let i = 0; i < floats.length; i += 1) floats[i] = samples.readInt16LE(i * SAMPLE_BYTES) / 32_768;
  for (let at = 0; at < floats.length; at += VOICE_RATE) {
    detector.add(floats.subarray(at, at + VOICE_RATE));
    await new Promise(setImmediate); // the lease is renewed in between
  }
  return detector.end();
}
