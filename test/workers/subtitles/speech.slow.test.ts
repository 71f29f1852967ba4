import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenPlaying } from '#support/given-speech.ts';
import { KilledFfmpeg } from '#support/killed-ffmpeg.ts';
import { FakeModel, givenReading, signal, startSpeech } from '#support/speech-worker.ts';
import { eventually } from '#support/stores.ts';

describe('the speech worker', function () {
  this.timeout(120_000);
  let api: Api;
  let member: Person;
  let me: TestClient;
  let admin: TestClient;
  let film: Awaited<ReturnType<typeof givenReading>>;
  const living: number[] = [];

  before(async function () {
    this.timeout(600_000);
    api = await startApi();
    await api.deps.objects.prepare(['foyer-subtitles']);
    admin = api.as(await api.given.owner());
    member = await api.given.member();
    me = api.as(member);
    film = await givenReading(api, 4);
    await api.deps.db('speech_models').delete();
  });

  afterEach(async () => {
    for (const pid of living.splice(0)) signal(pid, 'SIGKILL');
    await api.deps.db('playback_sessions').delete();
    await api.deps.db('subtitle_requests').delete();
    await api.deps.db('subtitle_uses').delete();
    await api.deps.db('media_streams').where({ kept: true }).delete();
  });

  async function start(model: FakeModel, more: Record<string, string> = {}) {
    const worker = await startSpeech(api, { modelsDir: model.modelsDir, ...more });
    living.push(worker.pid);
    return worker;
  }
  const status = async (url: string) => (await (await fetch(`${url}/status`)).json()) as Record<string, unknown>;
  const settled = async (url: string) =>
    eventually(async () => {
      const now = await status(url);
      return now['state'] === 'starting' ? undefined : now;
    }, 60_000);
  /** A worker of this model that is ready. */
  async function ready(model: FakeModel, more: Record<string, string> = {}) {
    const worker = await start(model, more);
    const now = await settled(worker.url);
    expect(now?.['state'], String(now?.['message'])).to.equal('ready');
    return worker;
  }
  const row = async (id: string) => api.deps.db('subtitle_requests').where({ id }).first();
  const ended = async (id: string) =>
    eventually(async () => {
      const now = await row(id);
      return now && ['finished', 'failed', 'cancelled'].includes(now.state) ? now : undefined;
    }, 60_000);
  const generate = async (body: Record<string, unknown> = { language: 'en' }): Promise<string> => {
    const answer = await me.generateSubtitles({ params: { id: film.itemId }, body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    return answer.body.id;
  };
  const checkpoints = async (id: string) =>
    api.deps.db('subtitle_stretches').where({ request_id: id }).select('number');
  const textOf = async (streamId: string | null): Promise<string> => {
    const file = `/api/v1/items/${film.itemId}/subtitles/${streamId}.srt`;
    return (await api.fetch(file, { headers: member.headers })).text();
  };
  let undisturbed = '';

  it('hears a request in stretches, without secrets or a network, and keeps the text as a subtitle', async () => {
    const model = new FakeModel();
    const { url } = await ready(model);
    expect(await status(url)).to.include({
      model: 'base',
      device: 'cpu',
      computeType: 'int8',
      reason: '',
      fellBack: false,
    });
    expect((await fetch(`${url}/ready`)).status).to.equal(200);
    expect(model.log[0]).to.equal('loaded cpu int8 no secrets no network');
    const { languages, model: shown } = (await me.getSubtitleCapabilities({})).body;
    expect([languages, shown?.state]).to.deep.equal([['en', 'de', 'jv'], 'ready']);
    const id = await generate({});
    const made = await ended(id);
    expect([made?.state, made?.language, made?.spoken_by]).to.deep.equal(['finished', 'en', 'heard']);
    expect(model.heard).to.have.length.within(3, 6);
    undisturbed = await textOf(made?.stream_id ?? null);
    const cues = undisturbed.split('\n\n').slice(1);
    expect(cues.length).to.be.greaterThan(20);
    for (const cue of cues) {
      const [from = '', to = '', ...lines] = cue.trim().split(/ --> |\n/);
      const ms = (text: string): number => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
      expect(lines.length, cue).to.be.within(1, 2);
      for (const line of lines) expect(line.length, line).to.be.at.most(42);
      expect(Math.round(ms(to) - ms(from)), cue).to.be.within(400, 7000);
    }
    const [stream] = await api.deps.db('media_streams').where({ file_id: film.fileId, kept: true }).select('*');
    expect(stream).to.include({ language: 'en', codec: 'subrip' });
    const [job] = (await admin.listJobs({ query: { ids: id } })).body.items;
    expect(job).to.include({ state: 'completed', progress: 1 });
    expect(await checkpoints(id)).to.deep.equal([]);
    const second = await me.generateSubtitles({ params: { id: film.itemId }, body: {} });
    expect([second.status, (second.body as unknown as { error: { details: object } }).error.details]).to.deep.equal([
      409,
      { reason: 'already-made', streamId: made?.stream_id },
    ]);
  });

  for (const [how, name] of [
    ['that is killed', 'SIGKILL'],
    ['that stands still past its lease', 'SIGSTOP'],
  ] as const)
    it(`is followed by another within 10 seconds of one ${how}, and no stretch is heard twice but the one in hand`, async () => {
      const model = new FakeModel({ slow: 1.5 });
      // Both are ready before there is work: a busy machine may take longer to start one than to hear the film.
      const workers = [await ready(model), await ready(model)];
      const id = await generate();
      await eventually(async () => (await checkpoints(id)).length >= 1, 30_000);
      const holder = (await row(id))?.worker;
      const holds = ({ pid }: { pid: number }): boolean => holder?.endsWith(`-${pid}`) === true;
      const [first, second] = [workers.find(holds), workers.find((one) => !holds(one))];
      if (!first || !second) throw new Error(`${holder} is none of the workers`);
      signal(first.pid, name);
      const since = Date.now();
      await eventually(async () => {
        const now = await row(id);
        return now?.worker && now.worker !== holder;
      }, 20_000);
      expect(Date.now() - since).to.be.below(10_000);
      const made = await ended(id);
      expect([made?.state, await textOf(made?.stream_id ?? null)]).to.deep.equal(['finished', undisturbed]);
      const heard = model.heard;
      expect(heard.length - new Set(heard).size).to.be.at.most(1);
      if (name !== 'SIGSTOP') return;
      signal(first.pid, 'SIGCONT');
      const before = await row(id);
      await new Promise((resolve) => setTimeout(resolve, 3000));
      expect(await row(id)).to.deep.equal(before);
      expect(await api.deps.db('media_streams').where({ kept: true }).select('id')).to.have.length(1);
      expect((await status(second.url))['state']).to.equal('ready');
    });

  it('fails a request after three losses at one stretch, and its use is given back', async () => {
    const model = new FakeModel({ dies: true });
    await ready(model);
    const id = await generate();
    expect((await me.getSubtitleCapabilities({})).body.allowance?.used).to.equal(1);
    const lost = await ended(id);
    expect(lost).to.deep.include({ state: 'failed', attempts: 3, error: { code: 'INTERNAL', reason: 'worker-lost' } });
    expect((await me.getSubtitleCapabilities({})).body.allowance?.used).to.equal(0);
  });

  it('hears a film whose ffmpeg was killed before the first sound as after a lost worker', async () => {
    const ffmpeg = new KilledFfmpeg();
    await ready(new FakeModel(), { PATH: ffmpeg.path });
    ffmpeg.strike();
    const made = await ended(await generate());
    expect(ffmpeg.hasStruck).to.equal(true);
    expect(made).to.include({ state: 'finished', attempts: 2, losses: 0 });
    expect(await textOf(made?.stream_id ?? null)).to.equal(undisturbed);
  });

  it('stops at once when a request is cancelled, and goes on with the next', async () => {
    const model = new FakeModel({ slow: 30 });
    await ready(model);
    const id = await generate();
    await eventually(async () => model.heard.length > 0, 30_000);
    await me.deleteGeneration({ params: { id } });
    model.order({});
    const next = await generate();
    expect((await ended(next))?.state).to.equal('finished');
    expect((await row(id))?.state).to.equal('cancelled');
  });

  it('rests a request of a batch at its checkpoint while somebody plays', async () => {
    const model = new FakeModel({ slow: 4 }); // somebody plays before it has heard all
    await ready(model);
    await admin.createSubtitleBatch({ body: { itemIds: [film.itemId], language: 'en', force: true } });
    const [request] = await api.deps.db('subtitle_requests').select('id');
    const id = request?.id ?? '';
    await eventually(async () => (await row(id))?.state === 'running', 30_000);
    const { library_id: libraryId } = (await api.deps.db('items').where({ id: film.itemId }).first('library_id')) ?? {
      library_id: '',
    };
    const session = await givenPlaying(api.deps.db, member, { ...film, libraryId });
    await eventually(async () => (await row(id))?.state === 'waiting', 30_000);
    expect((await checkpoints(id)).length).to.be.greaterThan(0);
    await api.deps.db('playback_sessions').where({ id: session }).delete();
    expect(await ended(id)).to.include({ state: 'finished', losses: 0 });
  });

  it('changes the language once when the soundtrack says another than is spoken', async () => {
    const model = new FakeModel({ language: 'de' });
    await api.deps.db('media_streams').where({ file_id: film.fileId, kind: 'audio' }).update({ language: 'en' });
    await ready(model);
    const made = await ended(await generate({}));
    expect(made).to.include({ state: 'finished', language: 'de', spoken: 'de', respoken: true });
    await api.deps.db('media_streams').where({ file_id: film.fileId, kind: 'audio' }).update({ language: null });
  });

  for (const gpu of ['memory', 'nonsense'] as const)
    it(`falls back to the CPU and says so when the GPU gives ${gpu}`, async () => {
      const { url } = await ready(new FakeModel({ gpu }));
      const now = await status(url);
      expect(now).to.include({ device: 'cpu', fellBack: true });
      expect(now['message']).to.match(gpu === 'memory' ? /out of memory/ : /!!!/);
      expect((await api.deps.db('speech_models').first())?.note).to.match(/fell back to the CPU/);
    });

  it('takes whole numbers for the weights when the GPU has no memory for half precision', async () => {
    const { url } = await ready(new FakeModel({ gpu: 'half' }));
    expect(await status(url)).to.include({ device: 'gpu', computeType: 'int8_float16', fellBack: false });
  });

  it('goes on with the CPU, without a loss, when the GPU fails while it hears', async () => {
    const { url } = await ready(new FakeModel({ gpu: 'later' }));
    expect((await status(url))['device']).to.equal('gpu');
    expect(await ended(await generate())).to.include({ state: 'finished', attempts: 2, losses: 0 });
    expect(await status(url)).to.include({ state: 'ready', device: 'cpu', fellBack: true });
  });

  it('starts a child again that ended while idle', async () => {
    const model = new FakeModel();
    const { url, pid } = await ready(model);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const child of children) signal(Number(child), 'SIGKILL');
    await eventually(async () => model.log.filter((line) => line.startsWith('loaded')).length === 2, 30_000);
    expect(await ended(await generate())).to.include({ state: 'finished', attempts: 1 });
    expect((await status(url))['state']).to.equal('ready');
  });

  it('reports the fault of a model, and serves nothing with it', async () => {
    const broken = new FakeModel();
    broken.write('model.bin.sha256', `${'0'.repeat(64)}  model.bin\n`);
    const cases: [FakeModel, Record<string, string>, string][] = [
      [broken, {}, 'model-invalid'],
      [new FakeModel(), { FOYER_SUBTITLES_MODEL: 'large' }, 'model-missing'],
      [new FakeModel(), { FOYER_SUBTITLES_PYTHON: '/usr/bin/false' }, 'no-python'],
      [new FakeModel({ gpu: 'nonsense' }), { FOYER_SUBTITLES_MODEL_SHA256: 'e'.repeat(64) }, 'model-invalid'],
    ];
    await Promise.all(
      cases.map(async ([model, more, reason]) => {
        const { url } = await start(model, more);
        expect(await settled(url)).to.include({ state: 'unavailable', reason });
        expect((await fetch(`${url}/ready`)).status).to.equal(503);
      }),
    );
    const capabilities = (await me.getSubtitleCapabilities({})).body;
    expect([capabilities.model?.state, capabilities.generate.reason]).to.deep.equal(['unavailable', 'no-model']);
  });

  it('loads a model soon after the child was killed while it loaded', async () => {
    const model = new FakeModel();
    const mark = join(model.modelsDir, 'killed'); // not in the folder of the model, of which a change is noticed
    writeFileSync(mark, '');
    const { url } = await start(model);
    expect(await settled(url)).to.include({ state: 'unavailable', reason: 'no-python' });
    rmSync(mark);
    await eventually(async () => (await status(url))['state'] === 'ready', 20_000);
  });

  it('loads a model that was mended without a new start', async () => {
    const model = new FakeModel();
    model.write('model.bin.sha256', `${'0'.repeat(64)}  model.bin\n`);
    const { url } = await start(model);
    expect(await settled(url)).to.include({ reason: 'model-invalid' });
    model.write('model.bin.sha256', '');
    await eventually(async () => (await status(url))['state'] === 'ready', 60_000);
    expect(await status(url)).to.include({ reason: '' });
  });
});
