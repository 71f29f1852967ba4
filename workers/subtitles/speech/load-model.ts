import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ModelFault } from '#areas/subtitles/speech/models.store.ts';
import { collect, readByFfmpeg } from '../../analysis/run.ts';
import { Child, ChildFailed } from './child.ts';
import { findModelFolder } from './model-folder.ts';

const SAMPLE = fileURLToPath(new URL('./sample.ogg', import.meta.url));
/** Most words of the sample, which ffmpeg's synthesizer spoke. */
const SAMPLE_TEXT = `The people of this house like to watch films in the evening. Some of them read the words on the screen
  while they listen. A small machine in the cellar hears each film once, and writes down. It does not guess
  what it cannot hear. When the film is over, everyone has a cup of tea and talks about the story. In the morning the
  children find the same film with words in their own language. Nobody had to look for them, and nobody had to wait. The
  machine is quiet again.`;
/** A model that hears fewer of the sample's words has no use. The smallest models of Whisper hear nine of ten. */
const LEAST_HEARD = 0.6;

export interface ModelPlace {
  modelsDir: string;
  name: string;
  sha256: string | undefined;
  python: string;
  device: 'auto' | 'cpu' | 'gpu';
}

/** A model that heard the sample right. */
export interface LoadedModel {
  device: 'gpu' | 'cpu';
  computeType: string;
  sha256: string;
  /** BCP 47. */
  languages: string[];
  /** Seconds of work a minute of sound. */
  pace: number;
  fellBack: boolean;
  note: string | null;
  /** Starts another child after the first one ended. */
  start: () => Promise<Child>;
  child: Child;
}

interface NotLoaded {
  fault: Exclude<ModelFault, ''>;
  message: string;
  /** A signal ended the child: another try may succeed at once. */
  wasKilled?: boolean;
}

export type LoadResult = LoadedModel | NotLoaded;

interface Attempt {
  device: 'cuda' | 'cpu';
  computeType: string;
}

const GPU: Attempt[] = [
  { device: 'cuda', computeType: 'float16' },
  { device: 'cuda', computeType: 'int8_float16' },
];
const CPU: Attempt = { device: 'cpu', computeType: 'int8' };

/** Loads the model on the GPU, or on the CPU where the GPU is missing or does not hear the sample right. */
export async function loadModel(place: ModelPlace, signal: AbortSignal): Promise<LoadResult> {
  const found = await findModelFolder(place);
  if ('fault' in found) return found;
  const sample = await decodeSample(signal);
  const troubles: string[] = [];
  for (const attempt of place.device === 'cpu' ? [CPU] : [...GPU, CPU]) {
    const start = () =>
      Child.start({ python: place.python, folder: found.folder, threads: availableParallelism(), ...attempt });
    const tried = await tryModel(start, sample);
    if ('child' in tried) return loadedBy(attempt, { ...tried, start, sha256: found.sha256, troubles });
    if (attempt === CPU || tried.reason === 'no-module') return faultOf(tried);
    if (tried.reason !== 'no-gpu' || place.device === 'gpu') troubles.push(`${attempt.computeType}: ${tried.message}`);
  }
  return { fault: 'model-invalid', message: 'the model could not be loaded' };
}

function loadedBy(
  { device, computeType }: Attempt,
  given: Pick<LoadedModel, 'child' | 'pace' | 'start' | 'sha256'> & { troubles: readonly string[] },
): LoadedModel {
  const { child, pace, start, sha256, troubles } = given;
  const fellBack = device === 'cpu' && troubles.length > 0;
  return {
    ...{ child, pace, start, sha256, computeType, fellBack },
    device: device === 'cuda' ? 'gpu' : 'cpu',
    languages: child.languages.map(toTag),
    note: fellBack ? `fell back to the CPU; the GPU failed: ${troubles.join('; ')}`.slice(0, 500) : null,
  };
}

/** Codes of Whisper that are no BCP 47. */
const TAGS: Readonly<Record<string, string>> = { jw: 'jv' };
/** The tag of a code that the child gave. */
export const toTag = (code: string): string => TAGS[code] ?? code;
/** The code under which the child knows a language. */
export const codeOf = (tag: string): string => Object.entries(TAGS).find(([, is]) => is === tag)?.[0] ?? tag;

interface Trouble {
  reason: ChildFailed['reason'] | 'sample';
  message: string;
  wasKilled?: boolean;
}

async function tryModel(
  start: () => Promise<Child>,
  sample: Buffer,
): Promise<Pick<LoadedModel, 'child' | 'pace'> | Trouble> {
  let child: Child | undefined;
  try {
    child = await start();
    const began = performance.now();
    const seconds = sample.length / 2 / RATE;
    const { segments } = await child.hear(sample, { language: 'en', task: 'transcribe', parts: [[0, seconds]] });
    const pace = (performance.now() - began) / 1000 / (seconds / 60);
    const heard = segments.map(({ text }) => text).join(' ');
    if (shareHeard(heard) >= LEAST_HEARD) return { child, pace };
    child.end();
    return { reason: 'sample', message: `the sample was heard as "${heard.trim().slice(0, 60)}"` };
  } catch (error) {
    child?.end();
    if (!(error instanceof ChildFailed)) throw error;
    return error;
  }
}

function faultOf({ reason, message, wasKilled = false }: Trouble): NotLoaded {
  if (reason === 'no-module' || reason === 'gone') return { fault: 'no-python', message, wasKilled };
  return { fault: reason === 'sample' ? 'sample-failed' : 'model-invalid', message };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Share of the sample's words that were heard, whatever their order. */
function shareHeard(text: string): number {
  const heard = new Set(wordsOf(text));
  const spoken = [...new Set(wordsOf(SAMPLE_TEXT))];
  return spoken.filter((word) => heard.has(word)).length / spoken.length;
}

const RATE = 16_000;

async function decodeSample(signal: AbortSignal): Promise<Buffer> {
  let sound: Buffer = Buffer.alloc(0);
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    sound = await collect(output, RATE * 2 * 120);
  };
  const writing = ['-ac', '1', '-ar', String(RATE), '-c:a', 'pcm_s16le', '-f', 's16le'];
  const outputs = [{ writing, take }];
  const reading = ['-vn', '-sn'];
  await readByFfmpeg({ file: SAMPLE, probe: { container: 'ogg' }, reading, outputs, signal, patienceMs: 30_000 });
  return sound;
}
