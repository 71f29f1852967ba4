// Ten made clips in three languages, with music and silence between the sentences.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorRate, type RealSpeech, sayEnglish, sayForeign, startRealSpeech } from '#support/real-speech.ts';
import { temporaryFolder } from '#support/stores.ts';

const RATE = 16_000;
const SECOND = RATE * 2;
const HOUR = 3600;

const ENGLISH = [
  [
    'The people of this house like to watch films in the evening.',
    'Some of them read the words on the screen while they listen.',
  ],
  ['A small machine in the cellar hears each film once.', 'It writes down every word of the film.'],
  ['When the film is over, everyone has a cup of tea.', 'Then they talk about the story until it is late.'],
  ['In the morning the children find the same film again.', 'They do not have to look for the words.'],
  ['The train leaves the station at seven in the morning.', 'The doctor waits on the platform with a red umbrella.'],
  ['It rained for three days and the river rose.', 'On the fourth day the sun came out.'],
];
const GERMAN = [
  ['Guten Morgen. Das Wetter ist heute sehr schön.', 'Wir gehen in den Garten und trinken Kaffee.'],
  ['Die Kinder spielen mit dem Hund.', 'Am Abend lesen wir ein gutes Buch.'],
];
const SPANISH = [
  ['Buenos días. Hoy hace muy buen tiempo.', 'Vamos al jardín y tomamos café.'],
  ['Los niños juegan con el perro.', 'Por la noche leemos un buen libro.'],
];

interface Clip {
  language: string;
  sentences: readonly string[];
  pcm: Buffer;
  file: string;
  /** Where each sentence begins to be heard, in seconds. */
  starts: number[];
}

describe('made clips that speak', function () {
  this.timeout(900_000);
  const folder = temporaryFolder('clips');
  const clips: Clip[] = [];
  let speech: RealSpeech;

  before(async () => {
    speech = await startRealSpeech();
    const english = await sayEnglish(ENGLISH.flat());
    const voices = {
      en: ENGLISH.map((_, n) => english.slice(2 * n, 2 * n + 2)),
      de: GERMAN.map((one) => sayForeign('de', one)),
      es: SPANISH.map((one) => sayForeign('es', one)),
    };
    for (const [language, sets] of [
      ['en', ENGLISH],
      ['de', GERMAN],
      ['es', SPANISH],
    ] as const)
      for (const [n, sentences] of sets.entries())
        clips.push(clipOf({ language, sentences, voices: voices[language][n] ?? [] }));
    expect(clips).to.have.length(10);
  });

  const samplesOf = (file: string): Buffer =>
    execFileSync('ffmpeg', ['-v', 'error', '-i', file, '-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'], {
      maxBuffer: 64 << 20,
    });
  const silence = (seconds: number): Buffer => Buffer.alloc(Math.round(seconds * RATE) * 2);
  /** Three notes, which are no speech. */
  const music = (seconds: number): Buffer => {
    const sound = silence(seconds);
    for (let at = 0; at < sound.length; at += 2)
      sound.writeInt16LE(
        [220, 277, 330].reduce((sum, tone) => sum + Math.sin((at / SECOND) * tone * 2 * Math.PI) * 1500, 0) | 0,
        at,
      );
    return sound;
  };
  const flac = (name: string, pcm: Buffer): string => {
    const [raw, file] = [join(folder, `${name}.raw`), join(folder, `${name}.flac`)];
    writeFileSync(raw, pcm);
    execFileSync('ffmpeg', ['-v', 'error', '-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', raw, file]);
    return file;
  };

  function clipOf({
    language,
    sentences,
    voices,
  }: {
    language: string;
    sentences: readonly string[];
    voices: string[];
  }): Clip {
    const parts: Buffer[] = [silence(1.5)];
    const starts: number[] = [];
    const length = (): number => parts.reduce((sum, part) => sum + part.length, 0);
    for (const [n, voice] of voices.entries()) {
      if (n > 0) parts.push(silence(1), ...(clips.length % 2 === 0 ? [music(4)] : []), silence(1.5));
      const spoken = samplesOf(voice);
      const loud = spoken.findIndex((_, at) => at % 2 === 0 && Math.abs(spoken.readInt16LE(at)) > 700);
      starts.push((length() + Math.max(loud, 0)) / SECOND);
      parts.push(spoken);
    }
    parts.push(silence(1.5));
    const pcm = Buffer.concat(parts);
    return { language, sentences, starts, pcm, file: flac(`clip-${clips.length}`, pcm) };
  }

  /** Beginnings of cues in seconds. */
  const cuesOf = (text: string): number[] =>
    [...text.matchAll(/(\d+):(\d+):(\d+)[,.](\d+) -->/g)].map(
      ([, h, m, s, ms]) => (Number(h) * 60 + Number(m)) * 60 + Number(s) + Number(ms) / 1000,
    );
  const offBy = (clip: Clip, text: string, shift = 0): number[] =>
    clip.starts.map((start) => {
      const off = cuesOf(text).map((cue) => cue - start - shift);
      return off.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? Number.POSITIVE_INFINITY;
    });

  it('are heard as well as by faster-whisper alone, each sentence in a cue that begins with it', async () => {
    const heard = [];
    for (const { language, file } of clips) heard.push(speech.request(file, { language }));
    const ended = await Promise.all((await Promise.all(heard)).map((one) => speech.ended(one)));
    const wrong: string[] = [];
    const sums = { ours: 0, theirs: 0 };
    for (const language of ['en', 'de', 'es']) {
      const own = clips.flatMap((clip, n) => (clip.language === language ? [{ clip, ended: ended[n] }] : []));
      const bare = await speech.bare(
        language,
        own.map(({ clip }) => clip.file),
      );
      const truth = own.map(({ clip }) => clip.sentences.join(' ')).join(' ');
      const spoken = own.map((one) => one.ended?.spoken).join(' ');
      const [ours, theirs] = [errorRate(spoken, truth), errorRate(bare.join(' '), truth)];
      console.log(`      ${language}: word error rate ${ours.toFixed(3)}, bare ${theirs.toFixed(3)}`);
      sums.ours += ours * truth.split(' ').length;
      sums.theirs += theirs * truth.split(' ').length;
      for (const { clip, ended: one } of own) {
        const off = offBy(clip, one?.text ?? '');
        if (Math.max(...off.map(Math.abs)) > 0.3)
          wrong.push(`${clip.sentences[0]}: off by ${off.map((s) => s.toFixed(2)).join(', ')} s`);
      }
    }
    const words = clips.flatMap(({ sentences }) => sentences.join(' ').split(' ')).length;
    expect(sums.ours / words, `bare ${sums.theirs / words}`).to.be.at.most(sums.theirs / words + 0.01);
    expect(wrong).to.deep.equal([]);
  });

  it('are heard in each of two soundtracks, and in their own language whatever the tag says', async () => {
    const [english, german] = [clips[0], clips.find(({ language }) => language === 'de')];
    const two = join(folder, 'two.mkv');
    const tags = ['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=eng'];
    const inputs = ['-i', english?.file ?? '', '-i', german?.file ?? '', '-map', '0:a', '-map', '1:a'];
    execFileSync('ffmpeg', ['-v', 'error', ...inputs, ...tags, '-c', 'copy', two]);
    const film = await speech.film(two);
    const tracks = await speech.api.deps
      .db('media_streams')
      .where({ file_id: film.fileId, kind: 'audio' })
      .orderBy('stream_index')
      .select('id');
    expect(tracks).to.have.length(2);
    const outcomes = [];
    for (const { id } of tracks) outcomes.push(await speech.ended(await speech.request(film, { audioStreamId: id })));
    expect(outcomes.map(({ row }) => row.language)).to.deep.equal(['en', 'de']);
    expect(outcomes[0]?.spoken).to.match(/watch films in the evening/i);
    expect(outcomes[1]?.spoken).to.match(/guten morgen/i);
  });

  it('are heard in an hour of silence and music, where they lie', async () => {
    const parts: Buffer[] = [];
    const places: { clip: Clip; at: number }[] = [];
    const english = clips.filter(({ language }) => language === 'en');
    let at = 0;
    for (const [n, clip] of english.entries()) {
      const gap = HOUR / english.length - clip.pcm.length / SECOND;
      const before = n % 2 === 0 ? music(gap) : silence(gap);
      places.push({ clip, at: at + gap });
      parts.push(before, clip.pcm);
      at += gap + clip.pcm.length / SECOND;
    }
    const { row, text, spoken } = await speech.ended(
      await speech.request(flac('hour', Buffer.concat(parts)), { language: 'en' }),
    );
    expect(row.state, JSON.stringify(row.error)).to.equal('finished');
    const truth = english.flatMap(({ sentences }) => sentences).join(' ');
    expect(errorRate(spoken, truth), spoken).to.be.at.most(0.1);
    const off = places.flatMap((place) => offBy(place.clip, text, place.at));
    expect(Math.max(...off.map(Math.abs)), off.map((s) => s.toFixed(2)).join(', ')).to.be.at.most(0.3);
  });
});
