import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorRate, type RealSpeech, startRealSpeech } from '#support/real-speech.ts';
import { signal } from '#support/speech-worker.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { Child } from '#workers/subtitles/speech/child.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const TRUTH = `It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the
epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of darkness, it was the spring of
hope, it was the winter of despair, we had everything before us, we had nothing before us, we were all going direct to heaven, we
were all going direct the other way. In short, the period was so far like the present period that some of its noisiest authorities
insisted on its being received, for good or for evil, in the superlative degree of comparison only.`;

describe('the speech worker with Whisper base', function () {
  this.timeout(600_000);
  let speech: RealSpeech;
  let reading: string;
  const folder = temporaryFolder('speech');

  before(async () => {
    reading = join((await fixtures()).real, 'speech/two_cities.wav');
    speech = await startRealSpeech();
  });

  /** Made by ffmpeg from inputs and a filter. */
  function made(name: string, args: readonly string[]): string {
    const file = join(folder, name);
    execFileSync('ffmpeg', ['-v', 'error', ...args, '-ac', '1', '-ar', '16000', '-c:a', 'flac', file]);
    return file;
  }
  it('hears a reading as well as faster-whisper alone, and its cues lie where the words are', async () => {
    const { row, text, spoken } = await speech.ended(await speech.request(reading, {}));
    expect([row?.state, row?.language]).to.deep.equal(['finished', 'en']);
    const [alone = ''] = await speech.bare('en', [reading]);
    const [own, bare] = [errorRate(spoken, TRUTH), errorRate(alone, TRUTH)];
    expect(own, `bare ${bare}`).to.be.at.most(bare + 0.01);
    expect(text).to.match(/00:00:0[01]\.\d{3} -->/);
    expect((await speech.api.deps.db('speech_models').where({ name: 'base' }).first())?.paces).to.have.length(1);
  });

  it('hears each word once wherever a stretch is parted', async () => {
    const pcm = execFileSync('ffmpeg', ['-v', 'error', '-i', reading, '-ac', '1', '-ar', '16000', '-f', 's16le', '-'], {
      maxBuffer: 8 << 20,
    });
    const { python, model } = speech;
    const child = await Child.start({ python, folder: model, device: 'cpu', computeType: 'int8', threads: 2 });
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
    const { row } = await speech.ended(await speech.request(music, { language: 'en' }));
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
    const heard = await speech.ended(await speech.request(german, {}));
    expect(heard.row?.language).to.equal('de');
    expect(heard.spoken.toLowerCase()).to.match(/guten morgen.*ist heute sehr/);
    const english = await speech.ended(await speech.request(german, { task: 'translate', language: 'de' }));
    expect(english.row).to.include({ language: 'en', spoken: 'de' });
    expect(english.spoken.toLowerCase()).to.match(/weather|garden|coffee|dog/);
  });

  it('goes on after the last checkpoint when worker and child are killed, with the same text', async () => {
    const sound = made('twice.flac', ['-stream_loop', '1', '-i', reading]);
    const undisturbed = await speech.ended(await speech.request(sound, { language: 'en' }));
    const cut = await speech.request(sound, { language: 'en' });
    const stretches = async () =>
      (await speech.api.deps.db('subtitle_stretches').where({ request_id: cut.id }).select('*')).length;
    await eventually(async () => (await stretches()) > 0, 120_000);
    const { pid } = speech.worker;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    signal(pid, 'SIGKILL');
    const child = Number(children.find((pid) => pid !== ''));
    await eventually(async () => !readdirSync('/proc').includes(String(child)), 10_000);
    speech.worker = await speech.start();
    const disturbed = await speech.ended(cut);
    expect(disturbed.text).to.equal(undisturbed.text);
    expect(disturbed.row).to.include({ attempts: 2, state: 'finished' });
  });
});
