// Speech workers on the stores of an API, with a child that speaks the protocol of the real one.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixtures } from '../../hack/fixtures/index.ts';
import type { Api } from './api.ts';
import { givenLibrary } from './given-items.ts';
import { type ProbedFilm, probedFilm } from './probed-film.ts';
import { started, storesOf } from './processes.ts';
import { atEnd, freePort, temporaryFolder } from './stores.ts';

export const FAKE_CHILD = fileURLToPath(new URL('./speech-child.py', import.meta.url));

/** Faults of the fake child. */
export interface Orders {
  gpu?: 'memory' | 'nonsense' | 'later' | 'half';
  language?: string;
  /** Seconds that each stretch takes. */
  slow?: number;
  dies?: boolean;
}

/** A folder of models with a fake one. */
export class FakeModel {
  readonly modelsDir = temporaryFolder('models');
  readonly #folder = join(this.modelsDir, 'base');

  constructor(orders: Orders = {}) {
    mkdirSync(this.#folder);
    for (const name of ['model.bin', 'config.json', 'tokenizer.json', 'vocabulary.txt'])
      writeFileSync(join(this.#folder, name), name);
    this.order(orders);
  }

  order(orders: Orders): void {
    writeFileSync(join(this.#folder, 'fake.json'), JSON.stringify(orders));
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  /** What the children did, a line each. */
  get log(): string[] {
    const file = join(this.#folder, 'heard.log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  get heard(): string[] {
    return this.log.filter((line) => line.startsWith('hear '));
  }
}

export interface SpeechProcess {
  pid: number;
  url: string;
}

/** A worker process; it ends with the test. */
export async function startSpeech(
  { config }: Api,
  { modelsDir, ...more }: { modelsDir: string; [name: string]: string },
): Promise<SpeechProcess> {
  const port = await freePort();
  const env = {
    ...storesOf(config),
    ...{ FOYER_MEDIA_ROOTS: JSON.stringify(config.mediaRoots), FOYER_PORT: String(port), FOYER_LOG_LEVEL: 'info' },
    ...{ FOYER_MODELS_DIR: modelsDir, FOYER_SUBTITLES_PYTHON: FAKE_CHILD, FOYER_POD: `speech-${port}`, ...more },
  };
  const pid = await started(['workers/subtitles/main.ts'], env, 'speech worker is up');
  atEnd(() => signal(pid, 'SIGKILL'));
  return { pid, url: `http://127.0.0.1:${port}` };
}

/** Sends a signal to a process that may have ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** A film whose soundtrack is a reading of 44 seconds, so many times in a row. */
export async function givenReading(api: Api, times: number, more: readonly string[] = []): Promise<ProbedFilm> {
  const { real } = await fixtures();
  const reading = join(real, 'speech/two_cities.wav');
  const made = join(temporaryFolder('reading'), `reading-${times}.mka`);
  const args = ['-v', 'error', '-stream_loop', String(times - 1), '-i', reading, '-ac', '1', '-ar', '16000'];
  execFileSync('ffmpeg', [...args, ...more, '-c:a', 'flac', made]);
  const path = join(api.mediaRoot, `${Math.random()}.mka`);
  copyFileSync(made, path);
  return probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path);
}
