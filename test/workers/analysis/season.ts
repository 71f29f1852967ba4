// Made episodes: melodies of a fixed beginning number, so that equal ones sound equal and others do not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const RATE = 16_000;

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Chords of a fifth to half a second over a little noise. */
function melody(seed: number, seconds: number): Float32Array {
  const random = randomOf(seed);
  const samples = new Float32Array(Math.round(seconds * RATE));
  for (let from = 0; from < samples.length; ) {
    const length = Math.round((0.2 + 0.3 * random()) * RATE);
    const loud = 0.05 + 0.3 * random();
    const steps = [0, 1, 2].map(() => (2 * Math.PI * 220 * 2 ** (Math.floor(random() * 40) / 12)) / RATE);
    for (let i = from; i < Math.min(from + length, samples.length); i += 1) {
      const fade = 1 - 0.7 * ((i - from) / length);
      const tone = steps.reduce((sum, step) => sum + Math.sin(step * i), 0) / 3;
      samples[i] = loud * fade * tone + 0.01 * (random() - 0.5);
    }
    from += length;
  }
  return samples;
}

export interface MadeEpisode {
  /** Seconds before the opening. */
  cold: number;
  /** Seconds of the opening; 0 for an episode without. */
  opening: number;
  /** Of everything but the opening. */
  seed: number;
  /** Of the whole sound, so that two releases differ. */
  volume?: number;
}

export const OPENING_SEED = 4711;
export const EPISODE_SECONDS = 240;
const SILENCE_SECONDS = 0.5;
/** The part that is analysed; the rest is silent. */
const HEARD_SECONDS = 62;

function soundOf({ cold, opening, seed, volume = 1 }: MadeEpisode): Buffer {
  const rest = HEARD_SECONDS - cold - opening - SILENCE_SECONDS;
  const parts = [
    melody(seed, cold),
    melody(OPENING_SEED, opening),
    new Float32Array(SILENCE_SECONDS * RATE),
    melody(seed + 1, rest),
  ];
  const bytes = Buffer.alloc(EPISODE_SECONDS * RATE * 2);
  let at = 0;
  for (const part of parts)
    for (const sample of part) {
      if (at + 2 > bytes.length) break;
      bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample * volume)) * 32_767), at);
      at += 2;
    }
  return bytes;
}

/** Writes an episode with a still picture. */
export async function writeEpisode(path: string, episode: MadeEpisode): Promise<void> {
  const child = spawn(
    'ffmpeg',
    [
      ...['-v', 'error', '-y', '-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', 'pipe:0'],
      ...['-f', 'lavfi', '-i', `color=gray:size=64x36:rate=1:duration=${EPISODE_SECONDS}`],
      ...['-map', '1:v', '-map', '0:a', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-b:a', '96k'],
      ...['-metadata', `comment=${path}`, path],
    ],
    { stdio: ['pipe', 'inherit', 'inherit'] },
  );
  child.stdin?.end(soundOf(episode));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
}
