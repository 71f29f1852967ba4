// The sound of a short film, held in memory, so that its parts are judged one after the other.
import { type Speech, VOICE_RATE, VoiceDetector } from './detector.ts';
import { decodeTrack, type Listening } from './listen.ts';

const SAMPLE_BYTES = 2;
/** Speech that ends or begins so near to the seam of two parts goes on over it. */
const SEAM_MS = 150;

export class HeldSound {
  readonly #samples: Buffer;
  readonly #detector: VoiceDetector;
  readonly #signal: AbortSignal;

  private constructor(samples: Buffer, detector: VoiceDetector, signal: AbortSignal) {
    this.#samples = samples;
    this.#detector = detector;
    this.#signal = signal;
  }

  /** Decodes the beginning of a soundtrack: two bytes a sample, 16,000 a second. Undefined when it cannot be decoded. */
  static async read(given: Listening, lengthMs: number): Promise<HeldSound | undefined> {
    const samples = Buffer.alloc(bytesOf(lengthMs));
    let filled = 0;
    const read = await decodeTrack(given, {
      ...{ format: 's16', lengthMs },
      take: async (pipe) => {
        for await (const chunk of pipe) filled += chunk.copy(samples, filled);
      },
    });
    return read ? new HeldSound(samples.subarray(0, filled), await VoiceDetector.load(), given.signal) : undefined;
  }

  get lengthMs(): number {
    return (this.#samples.length / SAMPLE_BYTES / VOICE_RATE) * 1000;
  }

  /** The speech of some parts, in order, on the film's clock. */
  async speechIn(parts: readonly Speech[], progress: (heardMs: number) => void): Promise<Speech[]> {
    const speech: Speech[] = [];
    let heardMs = 0;
    for (const { startMs, endMs } of parts) {
      this.#detector.restart();
      for (let ms = startMs; ms < endMs; ms += 1000) {
        this.#detector.add(this.#floats(ms, Math.min(endMs, ms + 1000)));
        await new Promise(setImmediate); // other work of the process goes on
        this.#signal.throwIfAborted();
        heardMs += Math.min(endMs - ms, 1000);
        progress(heardMs);
      }
      speech.push(
        ...this.#detector.end().map((one) => ({ startMs: startMs + one.startMs, endMs: startMs + one.endMs })),
      );
    }
    return speech;
  }

  #floats(fromMs: number, toMs: number): Float32Array {
    const { buffer, byteOffset, length } = this.#samples.subarray(bytesOf(fromMs), bytesOf(toMs));
    const samples = new Int16Array(buffer, byteOffset, length / SAMPLE_BYTES);
    const floats = new Float32Array(samples.length);
    for (let i = 0; i < floats.length; i += 1) floats[i] = (samples[i] as number) / 32_768;
    return floats;
  }
}

const bytesOf = (ms: number): number => Math.floor((ms * VOICE_RATE) / 1000) * SAMPLE_BYTES;

/** The speech of parts that adjoin each other as that of one. */
export function joined(speech: readonly Speech[], parts: readonly Speech[]): Speech[] {
  const seams = parts.map(({ endMs }) => endMs);
  const isNear = (ms: number, seam: number): boolean => Math.abs(ms - seam) <= SEAM_MS;
  const whole: Speech[] = [];
  for (const { startMs, endMs } of speech.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = whole.at(-1);
    const goesOn = last && seams.some((seam) => isNear(last.endMs, seam) && isNear(startMs, seam));
    if (goesOn) last.endMs = endMs;
    else whole.push({ startMs, endMs });
  }
  return whole;
}
