import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addKept, putKeptText } from '#areas/subtitles/public.ts';
import { batchesRest, nextInLine, speechDemand } from '#areas/subtitles/speech/line.store.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { givenPlaying, givenSpeechModel } from '#support/given-speech.ts';

const AUDIO = { kind: 'audio', codec: 'aac', language: 'de', is_default: true };
const TEXT = {
  bytes: Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nEin Wort\n'),
  format: 'srt' as const,
  cueCount: 1,
};

describe('requests for subtitles from speech', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let member: Person;
  let admin: TestClient;
  let me: TestClient;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi();
    await api.deps.objects.prepare(['foyer-subtitles']);
    owner = await api.given.owner();
    member = await api.given.member();
    [admin, me] = [api.as(owner), api.as(member)];
    films = await givenLibrary(api.deps.db, 'movies');
  });

  beforeEach(async () => {
    await api.deps.db('subtitle_requests').delete();
    await api.deps.db('subtitle_uses').delete();
    await api.deps.db('playback_sessions').delete();
    await givenSpeechModel(api.deps.db);
  });

  /** A film of a minute with these streams after its picture. */
  async function film(streams: Record<string, unknown>[] = [AUDIO], more: Record<string, unknown> = {}) {
    const { db } = api.deps;
    const itemId = await givenItem(db, films, { top: true, ...more });
    const path = `${itemId}.mkv`;
    writeFileSync(join(api.mediaRoot, path), 'film');
    const fileId = await givenFile(db, films, itemId, { duration_ms: 60_000, streams: [{}, ...streams] });
    await db('media_files').where({ id: fileId }).update({ path, size_bytes: 4 });
    return { itemId, fileId, libraryId: films.id };
  }

  const generate = (client: TestClient, id: string, body: Record<string, unknown> = {}) =>
    client.generateSubtitles({ params: { id }, body });
  const refused = async (client: TestClient, id: string, body: Record<string, unknown> = {}): Promise<string> => {
    const answer = await generate(client, id, body);
    const { code, details } = errorOf(answer);
    return `${code} ${String(details['reason'] ?? details['by'] ?? details['restriction'] ?? '')}`.trim();
  };
  const used = async (): Promise<number> =>
    Number((await me.getSubtitleCapabilities({})).body.allowance?.used ?? Number.NaN);
  const keep = async (fileId: string, language: string, origin: 'fetched' | 'base') => {
    await putKeptText(api.deps.objects, TEXT);
    return api.deps.db.transaction((trx) =>
      addKept(trx, TEXT, {
        ...{ fileId, language, forced: false, hearingImpaired: false, accountId: member.accountId },
        origin:
          origin === 'fetched'
            ? { source: 'fetched', provider: 'folder', providerFile: '1', release: 'x' }
            : { source: 'generated', model: origin, task: 'transcribe' },
      }),
    );
  };

  it('wait in the language of the soundtrack, cost a use, and are one with an equal request', async () => {
    const { itemId, fileId } = await film();
    const first = await generate(me, itemId);
    expect(first.status, JSON.stringify(first.body)).to.equal(202);
    expect(first.body).to.include({
      itemId,
      fileId,
      language: 'de',
      spokenLanguage: 'de',
      state: 'waiting',
      mine: true,
    });
    expect(first.body).to.include({
      model: 'base',
      durationMs: 60_000,
      waitingBefore: 0,
      pausedFor: 'worker',
      secondsLeft: 6,
    });
    expect(first.body.requestedBy).to.equal(undefined);
    const again = await generate(admin, itemId);
    expect([again.status, again.body.id, again.body.mine]).to.deep.equal([200, first.body.id, false]);
    expect(again.body.requestedBy?.userId).to.equal(member.accountId);
    expect(await used()).to.equal(1);
    const [job] = (await admin.listJobs({ query: { ids: first.body.id } })).body.items;
    expect(job).to.include({ kind: 'subtitles.generate', state: 'waiting', queue: 'speech' });
  });

  it('are settled by the index when many come at once, and one use is spent', async () => {
    const { itemId } = await film();
    const answers = await Promise.all(Array.from({ length: 6 }, () => generate(me, itemId)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 200, 200, 200, 200, 202]);
    expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
    expect(await used()).to.equal(1);
  });

  it('are refused with the reason, and spend nothing then', async () => {
    const { db } = api.deps;
    const album = await givenItem(db, films, { type: 'track' });
    expect(await refused(me, album)).to.equal('CONFLICT wrong-type');
    expect(await refused(me, (await film([])).itemId)).to.equal('CONFLICT no-soundtrack');
    const german = await film();
    expect(await refused(me, german.itemId, { language: 'tlh' })).to.equal('VALIDATION_FAILED');
    expect(await refused(me, german.itemId, { force: true })).to.equal('FORBIDDEN force');
    const english = await film([{ ...AUDIO, language: 'en-GB' }]);
    expect(await refused(me, english.itemId, { task: 'translate' })).to.equal('CONFLICT already-english');
    const other = await film([AUDIO, { kind: 'subtitle', codec: 'subrip', language: 'de-AT', forced: true }]);
    const made = await keep(other.fileId, 'de', 'base');
    const answer = await generate(me, other.itemId);
    expect(errorOf(answer).details).to.deep.equal({ reason: 'already-made', streamId: made });
    const fetched = await keep(german.fileId, 'de', 'fetched');
    expect(errorOf(await generate(me, german.itemId)).details).to.deep.equal({
      reason: 'subtitled',
      streamId: fetched,
    });
    expect((await generate(admin, german.itemId, { force: true })).status).to.equal(202);
    await givenSpeechModel(db, { fault: 'model-invalid' });
    expect(await refused(me, english.itemId)).to.equal('CONFLICT no-model');
    await db('speech_models').delete();
    expect(await refused(me, english.itemId)).to.equal('CONFLICT no-model');
    expect(await used()).to.equal(0);
  });

  it('need the tool, a use and a free place', async () => {
    const { db } = api.deps;
    const child = await api.given.child();
    const { itemId } = await film([AUDIO], { age_rating: 'G', age_years: 0 });
    expect(await refused(api.as(child), itemId)).to.match(/^(FORBIDDEN subtitleTools|NOT_FOUND)$/);
    for (let n = 0; n < 10; n += 1) expect((await generate(me, (await film()).itemId)).status).to.equal(202);
    const spent = await generate(me, itemId);
    expect([spent.status, errorOf(spent).code]).to.deep.equal([429, 'RATE_LIMITED']);
    expect((await me.getSubtitleCapabilities({})).body.generate).to.deep.equal({
      allowed: false,
      reason: 'allowance-spent',
    });
    for (let n = 0; n < 20; n += 1) await generate(admin, (await film()).itemId);
    expect(await refused(admin, (await film()).itemId)).to.equal('CONFLICT too-many-waiting');
    const order = await nextInLine(db);
    expect(
      (
        await db('subtitle_requests')
          .where({ id: order ?? null })
          .first()
      )?.account_id,
    ).to.equal(member.accountId);
    await db('subtitle_requests')
      .where({ id: order ?? null })
      .update({ state: 'running', started_at: new Date() });
    const next = await db('subtitle_requests')
      .where({ id: (await nextInLine(db)) ?? null })
      .first();
    expect(next?.account_id, 'the other account has its turn').to.equal(owner.accountId);
  });

  it('are ended by the requester and by administrators, and a use is given back where it is due', async () => {
    const { db } = api.deps;
    const other = api.as(await api.given.member());
    const end = (client: TestClient, id: string) => client.deleteGeneration({ params: { id } });
    const { itemId } = await film();
    const { id } = (await generate(me, itemId)).body;
    expect((await end(other, id)).status).to.equal(403);
    expect((await end(me, id)).status).to.equal(204);
    expect(await used(), 'cancelled before it starts').to.equal(0);
    const listed = (await me.listGeneratedSubtitles({ params: { id: itemId }, query: { state: 'cancelled' } })).body;
    expect(listed.items.map((one) => [one.id, one.state])).to.deep.equal([[id, 'cancelled']]);
    expect([(await end(me, id)).status, (await end(me, id)).status], 'forgotten').to.deep.equal([204, 404]);
    const start = async () => {
      const request = (await generate(me, itemId)).body;
      await db('subtitle_requests')
        .where({ id: request.id })
        .update({ state: 'running', started_at: new Date(), epoch: 1 });
      return request.id;
    };
    await end(me, await start());
    expect(await used(), 'cancelled by oneself after the start').to.equal(1);
    const running = await start();
    await end(admin, running);
    expect(await used(), 'cancelled by somebody else').to.equal(1);
    const job = await db('jobs').where({ id: running }).first();
    expect(job?.state).to.equal('cancelled');
  });

  it('that are cancelled as jobs are cancelled', async () => {
    const { db } = api.deps;
    const { id } = (await generate(me, (await film()).itemId)).body;
    await db('subtitle_requests').where({ id }).update({ state: 'running', started_at: new Date(), epoch: 4 });
    await db('jobs').where({ id }).update({ state: 'active' });
    await admin.cancelJobs({ body: { ids: [id] } });
    const row = await db('subtitle_requests').where({ id }).first();
    expect([row?.state, row?.epoch, await used()]).to.deep.equal(['cancelled', 5, 0]);
    expect((await db('jobs').where({ id }).first())?.state).to.equal('cancelled');
  });

  it('that ended with a subtitle take it along, with an event', async () => {
    const { db } = api.deps;
    const { itemId, fileId } = await film();
    const { id } = (await generate(me, itemId)).body;
    const stream = await keep(fileId, 'de', 'base');
    await db('subtitle_requests')
      .where({ id })
      .update({ state: 'finished', finished_at: new Date(), stream_id: stream });
    const [shown] = (await me.listGeneratedSubtitles({ params: { id: itemId } })).body.items;
    expect(shown?.subtitle).to.include({ id: stream, source: 'generated', model: 'base' });
    expect(shown?.progress).to.equal(1);
    await me.deleteGeneration({ params: { id } });
    expect(await db('kept_subtitles').where({ stream_id: stream }).first('stream_id')).to.equal(undefined);
    const [event] = await db('outbox').where({ event: 'item.updated' }).orderBy('seq', 'desc').limit(1);
    expect(event?.payload).to.deep.include({ itemId, changed: ['subtitles'] });
  });

  it('of a show are listed in episode order, and the list has an ETag', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows');
    const show = await givenItem(db, shows, { type: 'show', top: true });
    const season = await givenItem(db, shows, { type: 'season', parent_id: show, index_number: 1 });
    const episodes: string[] = [];
    for (const index of [2, 1, 3]) {
      const more = { type: 'episode', parent_id: season, grandparent_id: show, parent_index: 1, index_number: index };
      const id = await givenItem(db, shows, more);
      const german =
        index === 3
          ? [
              { kind: 'subtitle', codec: 'subrip', language: 'ger' },
              { kind: 'subtitle', codec: 'subrip', language: 'de' },
            ]
          : [];
      await givenFile(db, shows, id, { duration_ms: 600_000, streams: [{}, AUDIO, ...german] });
      episodes.push(id);
    }
    const [second = '', first = '', third = ''] = episodes;
    const body = { itemIds: [show, second] };
    const dry = await admin.createSubtitleBatch({ body: { ...body, dryRun: true } });
    expect(dry.body).to.deep.equal({ count: 2, estimatedSeconds: 120 });
    expect(await db('subtitle_batches').select('id')).to.deep.equal([]);
    const made = (await admin.createSubtitleBatch({ body })).body;
    expect(made.skipped).to.deep.equal([{ itemId: third, reason: 'subtitled' }]);
    expect(made.batch).to.include({ total: 2, waiting: 2, running: 0, secondsLeft: 120 });
    const list = (query: Record<string, string>) => me.listGeneratedSubtitles({ params: { id: show }, query });
    const { items } = (await list({})).body;
    expect(items.map(({ item }) => item?.id)).to.deep.equal([first, second]);
    expect((await list({ sort: '-createdAt' })).body.items).to.have.length(2);
    const headers = member.headers;
    const url = `/api/v1/items/${season}/subtitles/generated`;
    const etag = (await api.fetch(url, { headers })).headers.get('etag') ?? '';
    expect((await api.fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).to.equal(304);
    const again = (await admin.createSubtitleBatch({ body })).body;
    expect([again.count, again.batch, again.skipped?.map(({ reason }) => reason)]).to.deep.equal([
      0,
      undefined,
      ['queued', 'queued', 'subtitled'],
    ]);
    const id = made.batch?.id ?? '';
    for (const _ of ['once', 'again'])
      expect((await admin.stopSubtitleBatch({ params: { id } })).body).to.include({
        cancelled: 2,
        waiting: 0,
        total: 2,
      });
    expect((await db('jobs').where({ id }).first())?.state).to.equal('cancelled');
    expect((await me.createSubtitleBatch({ body })).status).to.equal(403);
    const hidden = await givenLibrary(db, 'movies', { access: 'restricted' }).catch(() => givenLibrary(db, 'movies'));
    expect(hidden.id).to.be.a('string');
    expect((await admin.createSubtitleBatch({ body: { itemIds: [second, hidden.id] } })).status).to.equal(404);
  });

  it('of a batch come after single ones and rest while somebody plays, pauses, or did a moment ago', async () => {
    const { db } = api.deps;
    const [batched, single] = [await film(), await film()];
    await admin.createSubtitleBatch({ body: { itemIds: [batched.itemId] } });
    const { id } = (await generate(me, single.itemId)).body;
    expect(await nextInLine(db)).to.equal(id);
    const session = await givenPlaying(db, member, single);
    const change = (row: object) => db('playback_sessions').where({ id: session }).update(row);
    expect([await batchesRest(db), await speechDemand(db, 'base')]).to.deep.equal([true, 1]);
    await db('subtitle_requests').where({ id }).update({ state: 'cancelled' });
    expect(await nextInLine(db)).to.equal(undefined);
    const [waiting] = (await me.listGeneratedSubtitles({ params: { id: batched.itemId } })).body.items;
    expect(waiting?.pausedFor).to.equal('streaming');
    await change({ state: 'paused' });
    expect(await batchesRest(db)).to.equal(true);
    await change({ paused_at: new Date(Date.now() - 361_000) });
    expect(await batchesRest(db)).to.equal(false);
    await change({ state: 'stopped', stopped_at: new Date(Date.now() - 50_000) });
    expect(await batchesRest(db)).to.equal(true);
    await change({ stopped_at: new Date(Date.now() - 61_000) });
    expect(await batchesRest(db)).to.equal(false);
    expect(await nextInLine(db)).to.be.a('string');
    expect([await speechDemand(db, 'base'), await speechDemand(db, 'large')]).to.deep.equal([1, 2]);
  });

  it('want a worker again for a model whose fault was found ten minutes ago', async () => {
    const { db } = api.deps;
    await givenSpeechModel(db, { fault: 'model-missing' });
    expect(await speechDemand(db, 'base')).to.equal(0);
    await db('speech_models').update({ seen_at: new Date(Date.now() - 601_000) });
    expect(await speechDemand(db, 'base')).to.equal(1);
    await db('speech_models').update({ fault: '' });
    expect(await speechDemand(db, 'base')).to.equal(0);
  });

  it('give their use back and end their job when the film goes', async () => {
    const { db } = api.deps;
    const gone = await film();
    const { id } = (await generate(me, gone.itemId)).body;
    expect(await used()).to.equal(1);
    await db('media_files').where({ id: gone.fileId }).delete();
    expect(await used()).to.equal(0);
    const job = await db('jobs').where({ id }).first();
    expect([job?.state, job?.finished_at instanceof Date]).to.deep.equal(['cancelled', true]);
  });

  it('give their use back when they were claimed and returned unheard', async () => {
    const { db } = api.deps;
    for (const [heard, uses] of [
      [0, 0],
      [5000, 1],
    ] as const) {
      const { id } = (await generate(me, (await film()).itemId)).body;
      await db('subtitle_requests').where({ id }).update({ started_at: new Date(), heard_ms: heard });
      await me.deleteGeneration({ params: { id } });
      expect(await used(), String(heard)).to.equal(uses);
    }
  });

  it('show their capabilities from rows', async () => {
    const { db } = api.deps;
    const read = async (client = me) => (await client.getSubtitleCapabilities({})).body;
    const before = await read();
    expect(before.model).to.deep.equal({ name: 'base', device: 'cpu', state: 'asleep' });
    expect(before).to.deep.include({
      languages: ['en', 'de', 'no'],
      translatesInto: ['en'],
      secondsPerMinute: 6,
      admin: false,
    });
    expect(before.generate).to.deep.equal({ allowed: true });
    expect(before.find).to.deep.equal({ allowed: false, reason: 'no-provider' });
    await db('speech_models').update({ paces: [3, 9, 4] });
    await generate(me, (await film()).itemId);
    expect(await read()).to.deep.include({ secondsPerMinute: 4, waiting: { single: 1, batch: 0 } });
    expect((await read()).model?.state).to.equal('starting');
    await db('speech_workers').insert({ id: 'w', model: 'base' });
    expect((await read()).model?.state).to.equal('ready');
    await db('speech_workers').delete();
    await givenSpeechModel(db, {
      fault: 'model-missing',
      device: null,
      compute_type: null,
      sha256: null,
      languages: [],
    });
    const broken = await read();
    expect([broken.model?.state, broken.generate.reason, broken.languages]).to.deep.equal([
      'unavailable',
      'no-model',
      [],
    ]);
    expect((await read(admin)).allowance).to.equal(undefined);
  });
});
