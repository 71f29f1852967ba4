// Finds speech in sound with the Silero model, by sherpa-onnx.
import { fileURLToPath } from 'node:url';
import type { Vad } from 'sherpa-onnx-node';

/** Samples a second of the sound that the model was made for. */
export const VOICE_RATE = 16_000;
/** Samples of one judgement: 32 ms. */
const WINDOW = 512;
const BUFFER_SEC = 60;
const MODEL = fileURLToPath(new URL('./silero_vad.onnx', import.meta.url));

/** Speech in a soundtrack, ms from the beginning of the film. */
export interface Speech {
  startMs: number;
  endMs: number;
}

/** Judges sound as it comes. A window takes 64 µs, so a chunk of a pipe does not hold up other work. */
export class VoiceDetector {
  readonly #vad: Vad;
  readonly #window = new Float32Array(WINDOW);
  #filled = 0;
  #found: Speech[] = [];

  private constructor(vad: Vad) {
    this.#vad = vad;
  }

  /** Loads the model. The native library is loaded with the first detector of a process. */
  static async load(): Promise<VoiceDetector> {
    const { default: sherpa } = await import('sherpa-onnx-node');
    const sileroVad = {
      ...{ model: MODEL, threshold: 0.5, windowSize: WINDOW },
      ...{ minSilenceDuration: 0.1, minSpeechDuration: 0.1, maxSpeechDuration: BUFFER_SEC / 2 },
    };
    const config = { sileroVad, sampleRate: VOICE_RATE, numThreads: 1, provider: 'cpu' };
    return new VoiceDetector(new sherpa.Vad(config, BUFFER_SEC));
  }

  /** Takes samples of one channel between -1 and 1. */
  add(samples: Float32Array): void {
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + WINDOW - this.#filled);
      this.#window.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < WINDOW) break;
      this.#filled = 0;
      this.#vad.acceptWaveform(this.#window);
      this.#collect();
    }
  }

  /** The speech in all that was added, in order. */
  end(): Speech[] {
    this.#vad.flush();
    this.#collect();
    return this.#found;
  }

  /** Forgets the sound, for another one: loading the model again would take as long as 20 s of sound. */
  restart(): void {
    this.#vad.reset();
    this.#filled = 0;
    this.#found = [];
  }

  #collect(): void {
    while (!this.#vad.isEmpty()) {
      const { start, samples } = this.#vad.front(false);
      this.#vad.pop();
      const perMs = VOICE_RATE / 1000;
      this.#found.push({
        startMs: Math.round(start / perMs),
        endMs: Math.round((start + samples.length) / perMs),
      });
    }
  }
}
