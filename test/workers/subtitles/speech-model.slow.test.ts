import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { probedFilm } from '#support/probed-film.ts';
import { signal, startSpeech } from '#support/speech-worker.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { Child } from '#workers/subtitles/speech/child.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const run = promisify(execFile);

/** The words of faster-whisper alone, with the options of the worker. */
const BARE = `
import sys
from faster_whisper import WhisperModel
segments, _ = WhisperModel(sys.argv[1], device="cpu", compute_type="int8").transcribe(
    sys.argv[2], language=sys.argv[3], beam_size=5, word_timestamps=True, condition_on_previous_text=False)
print("".join(segment.text for segment in segments))`;

const TRUTH = `It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the
epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of darkness, it was the spring of
hope, it was the winter of despair, we had everything before us, we had nothing before us, we were all going direct to heaven, we
were all going direct the other way. In short, the period was so far like the present period that some of its noisiest authorities
insisted on its being received, for good or for evil, in the superlative degree of comparison only.`;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** Word error rate: edits a word of the truth. */
function errorRate(text: string, truth: string): number {
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

describe('the speech worker with Whisper base', function () {
  this.timeout(600_000);
  let api: Api;
  let me: TestClient;
  let headers: Record<string, string>;
  let env: { FOYER_SUBTITLES_PYTHON: string; modelsDir: string };
  let worker: { pid: number; url: string };
  let reading: string;
  const folder = temporaryFolder('speech');

  before(async () => {
    const { stdout } = await run('bash', [join(import.meta.dirname, '../../../hack/speech.sh')]);
    const given = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    ) as Record<string, string>;
    env = { FOYER_SUBTITLES_PYTHON: given['FOYER_SUBTITLES_PYTHON'] ?? '', modelsDir: given['FOYER_MODELS_DIR'] ?? '' };
    reading = join((await fixtures()).real, 'speech/two_cities.wav');
    api = await startApi();
    await api.deps.objects.prepare(['foyer-subtitles']);
    const owner = await api.given.owner();
    me = api.as(owner);
    headers = owner.headers;
    worker = await startReady();
  });

  async function startReady() {
    const started = await startSpeech(api, env);
    const state = async () => ((await (await fetch(`${started.url}/status`)).json()) as { state: string }).state;
    await eventually(async () => (await state()) === 'ready', 120_000);
    return started;
  }

  /** A film with this sound. */
  async function film(sound: string) {
    const path = join(api.mediaRoot, `${Math.random()}.mka`);
    copyFileSync(sound, path);
    return probedFilm(api, await givenLibrary(api.deps.db, 'movies'), path);
  }
  /** Made by ffmpeg from inputs and a filter. */
  function made(name: string, args: readonly string[]): string {
    const file = join(folder, name);
    execFileSync('ffmpeg', ['-v', 'error', ...args, '-ac', '1', '-ar', '16000', '-c:a', 'flac', file]);
    return file;
  }
  async function request(sound: string, body: Record<string, unknown>) {
    const { itemId } = await film(sound);
    const answer = await me.generateSubtitles({ params: { id: itemId }, body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    return { itemId, id: answer.body.id };
  }
  async function ended({ itemId, id }: { itemId: string; id: string }) {
    const row = await eventually(async () => {
      const now = await api.deps.db('subtitle_requests').where({ id }).first();
      return now && ['finished', 'failed'].includes(now.state) ? now : undefined;
    }, 300_000);
    const text = row?.stream_id
      ? await (await api.fetch(`/api/v1/items/${itemId}/subtitles/${row.stream_id}.srt`, { headers })).text()
      : '';
    return {
      row,
      text,
      spoken: text
        .split('\n')
        .filter((line) => !/-->|^WEBVTT|^$/.test(line))
        .join(' '),
    };
  }

  it('hears a reading as well as faster-whisper alone, and its cues lie where the words are', async () => {
    const { row, text, spoken } = await ended(await request(reading, {}));
    expect([row?.state, row?.language]).to.deep.equal(['finished', 'en']);
    const { stdout } = await run(env.FOYER_SUBTITLES_PYTHON, ['-c', BARE, join(env.modelsDir, 'base'), reading, 'en']);
    const [own, bare] = [errorRate(spoken, TRUTH), errorRate(stdout, TRUTH)];
    expect(own, `bare ${bare}`).to.be.at.most(bare + 0.01);
    expect(text).to.match(/00:00:0[01]\.\d{3} -->/);
    expect((await api.deps.db('speech_models').where({ name: 'base' }).first())?.paces).to.have.length(1);
  });

  it('hears each word once wherever a stretch is parted', async () => {
    const pcm = execFileSync('ffmpeg', ['-v', 'error', '-i', reading, '-ac', '1', '-ar', '16000', '-f', 's16le', '-'], {
      maxBuffer: 8 << 20,
    });
    const python = env.FOYER_SUBTITLES_PYTHON;
    const folder = join(env.modelsDir, 'base');
    const child = await Child.start({ python, folder, device: 'cpu', computeType: 'int8', threads: 2 });
    const end = pcm.length / 32_000;
    for (const cut of [21.004, 24.602, 26.502]) {
      const parts = [
        [0, cut],
        [cut, end],
      ] as const;
      const { segments } = await child.hear(pcm, { language: 'en', task: 'transcribe', parts });
      const spoken = segments.map(({ text }) => text).join(' ');
      expect(errorRate(spoken, TRUTH), `cut at ${cut}`).to.be.at.most(0.05);
      const starts = segments.flatMap(({ words }) => words.map(([from]) => from));
      expect(starts, `in order at ${cut}`).to.deep.equal(starts.toSorted((a, b) => a - b));
    }
    child.end();
  });

  it('invents no words for music and silence, and reports that no one speaks', async () => {
    const music = made('music.flac', [
      '-f',
      'lavfi',
      '-i',
      'sine=440:d=20',
      '-f',
      'lavfi',
      '-i',
      'sine=660:d=20',
      '-filter_complex',
      'amix,apad=pad_dur=5',
    ]);
    const { row } = await ended(await request(music, { language: 'en' }));
    expect(row?.error).to.deep.equal({ code: 'TRANSCODE_FAILED', reason: 'no-speech' });
  });

  it('translates into English, and finds a language that the soundtrack hides', async () => {
    const file = join(folder, 'german.wav');
    execFileSync('espeak-ng', [
      '-v',
      'de',
      '-s',
      '130',
      '-w',
      file,
      'Guten Morgen. Das Wetter ist heute sehr schön. Wir gehen in den Garten und trinken Kaffee. Die Kinder spielen mit dem Hund.',
    ]);
    const german = made('german.flac', ['-i', file]);
    const heard = await ended(await request(german, {}));
    expect(heard.row?.language).to.equal('de');
    expect(heard.spoken.toLowerCase()).to.match(/guten morgen.*ist heute sehr/);
    const english = await ended(await request(german, { task: 'translate', language: 'de' }));
    expect(english.row).to.include({ language: 'en', spoken: 'de' });
    expect(english.spoken.toLowerCase()).to.match(/weather|garden|coffee|dog/);
  });

  it('goes on after the last checkpoint when worker and child are killed, with the same text', async () => {
    const sound = made('twice.flac', ['-stream_loop', '1', '-i', reading]);
    const undisturbed = await ended(await request(sound, { language: 'en' }));
    const cut = await request(sound, { language: 'en' });
    const stretches = async () =>
      (await api.deps.db('subtitle_stretches').where({ request_id: cut.id }).select('*')).length;
    await eventually(async () => (await stretches()) > 0, 120_000);
    const children = readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, 'utf8').trim().split(' ');
    signal(worker.pid, 'SIGKILL');
    const child = Number(children.find((pid) => pid !== ''));
    await eventually(async () => !readdirSync('/proc').includes(String(child)), 10_000);
    worker = await startReady();
    const disturbed = await ended(cut);
    expect(disturbed.text).to.equal(undisturbed.text);
    expect(disturbed.row).to.include({ attempts: 2, state: 'finished' });
  });
});
