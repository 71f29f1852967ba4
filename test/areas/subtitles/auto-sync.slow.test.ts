import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findSource } from '#areas/streaming/public.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { tool } from '#support/hls-validator.ts';
import { drawnSup, realSup, repeatedSup } from '#support/picture-films.ts';
import { type ProbedFilm, probedFilm } from '#support/probed-film.ts';
import { atEnd } from '#support/stores.ts';
import { moved, randomOf, rightOf, type Span, saySpeech, sidecar, spokenFilm } from '#support/timed-texts.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { listen, soundtrackOf } from '#workers/voice/listen.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('a subtitle that is fitted to the speech of a film', function () {
  this.timeout(300_000);
  const LENGTH_MS = 900_000;
  let api: Api;
  let library: GivenLibrary;
  let admin: TestClient;
  let real: string;

  before(async function () {
    this.timeout(600_000);
    ({ real } = await fixtures());
    api = await startApi();
    admin = api.as(await api.given.owner());
    library = await givenLibrary(api.deps.db, 'movies');
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
  });

  /** The end of a run, which a slow machine does not reach within one request. */
  async function fitted(params: { id: string; streamId: string }) {
    for (let tries = 0; ; tries += 1) {
      const { status, body } = await admin.autoSyncSubtitle({ params });
      expect(status, JSON.stringify(body)).to.equal(200);
      if (body.outcome !== 'running' || tries === 4) return body;
    }
  }

  const text = async (of: ProbedFilm, cues: readonly Span[]) => (await sidecar(api, of, cues)).ids;

  it('is heard in the film when its speech is not known, by stretches where these agree', async () => {
    const { path, seconds } = await speechFilm('Long.mkv', { seconds: 2400, longest: 40, pause: 12 });
    const long = await probedFilm(api, library, path);
    const truth = await speechOf(long, path);
    const late = moved(truth, (ms) => ms + 45_000);
    const body = await fitted(await text(long, late));
    expect([body.outcome, body.heardMs], JSON.stringify(body)).to.deep.equal(['applied', 12 * 90_000]);
    expect(rightOf(body.sync, late, truth)).to.be.at.least(0.95);
    const cut = moved(truth, (ms) => ms + (ms > seconds * 500 ? 20_000 : 0));
    const whole = await fitted(await text(long, cut));
    expect(whole.heardMs).to.be.closeTo(seconds * 1000, 1000);
    expect(whole.sync.pieces).to.have.length(1);
    expect(rightOf(whole.sync, cut, truth)).to.be.at.least(0.95);
  });

  it('is heard in a few minutes of a short film, and in the rest of it where these do not agree', async () => {
    const { path, seconds } = await speechFilm('Short.mkv', { seconds: 780, longest: 6, pause: 2.4 });
    const film = await probedFilm(api, library, path);
    const truth = await speechOf(film, path);
    const late = moved(truth, (ms) => ms + 45_000);
    const body = await fitted(await text(film, late));
    expect(body.outcome, JSON.stringify(body)).to.equal('applied');
    expect(body.heardMs / 1000).to.be.closeTo(300, 1);
    expect(rightOf(body.sync, late, truth)).to.be.at.least(0.95);
    const cut = moved(truth, (ms) => ms + (ms > seconds * 500 ? 20_000 : 0));
    const whole = await fitted(await text(film, cut));
    expect(whole.heardMs).to.be.closeTo(seconds * 1000, 1000);
    expect(whole.sync.pieces).to.have.length(1);
    expect(rightOf(whole.sync, cut, truth)).to.be.at.least(0.95);
    const voices = api.deps.db('voice_activity').where({ file_id: film.fileId });
    expect(await voices, 'the whole is kept').to.have.length(1);
  });

  it('is fitted by the times of its pictures', async () => {
    await spokenFilm(api, library, { name: 'Film.mkv', lengthMs: LENGTH_MS, speech: [] });
    const sup = join(api.mediaRoot, 'late.sup');
    const random = randomOf(4);
    const starts = [2000];
    while ((starts.at(-1) ?? 0) < LENGTH_MS - 60_000)
      starts.push(Math.round((starts.at(-1) ?? 0) + 9000 + random() * 20_000));
    writeFileSync(sup, repeatedSup(drawnSup(realSup(real)), starts));
    const drawn = join(api.mediaRoot, 'Drawn.mkv');
    await tool('mkvmerge', ['-q', '-o', drawn, join(api.mediaRoot, 'Film.mkv'), sup]);
    const pictures = await probedFilm(api, library, drawn);
    const track = await api.deps.db('media_streams').where({ file_id: pictures.fileId, codec: 'pgs' }).first('id');
    const shown = starts.flatMap((ms) =>
      [1000, 4000, 7000].map((more) => ({ startMs: ms + more, endMs: ms + more + 2000 })),
    );
    const heard = moved(shown, (ms) => ms + 6500);
    await saySpeech(api, pictures.fileId, heard);
    const end = await fitted({ id: pictures.itemId, streamId: track?.id ?? '' });
    expect(end.outcome, JSON.stringify(end)).to.equal('applied');
    expect(rightOf(end.sync, shown, heard)).to.be.at.least(0.95);
  });

  /** The speech of a film that is heard whole. */
  async function speechOf({ fileId }: ProbedFilm, file: string): Promise<Span[]> {
    const probe = (await findSource(api.deps.db, fileId))?.probe;
    const stream = probe && soundtrackOf(probe);
    if (!probe || !stream) throw new Error('no sound');
    return (await listen({ file, probe, stream, signal: new AbortController().signal })) ?? [];
  }

  /** Real speech in an order of its own: parts and pauses of at most about so many seconds. */
  async function speechFilm(
    name: string,
    { seconds, longest, pause }: { seconds: number; longest: number; pause: number },
  ): Promise<{ path: string; seconds: number }> {
    const bytes = readFileSync(join(real, 'speech', 'two_cities.wav'));
    const data = bytes.indexOf('data') + 8;
    const [channels, rate] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24)];
    const second = rate * channels * 2;
    const random = randomOf(8);
    const parts: Buffer[] = [];
    const length = (): number => parts.reduce((sum, part) => sum + part.length, 0) / second;
    while (length() < seconds) {
      const from = data + Math.floor(random() * 200) * second;
      parts.push(bytes.subarray(from, from + Math.floor(longest / 8 + random() * longest) * second));
      parts.push(Buffer.alloc(Math.floor((pause / 12 + random() * pause) * rate) * channels * 2));
    }
    const [raw, path] = [join(api.mediaRoot, 'speech.raw'), join(api.mediaRoot, name)];
    writeFileSync(raw, Buffer.concat(parts));
    const input = ['-f', 's16le', '-ar', String(rate), '-ac', String(channels), '-i', raw];
    await tool('ffmpeg', ['-v', 'error', ...input, '-ar', '16000', '-c:a', 'flac', path]);
    rmSync(raw);
    return { path, seconds: length() };
  }
});
