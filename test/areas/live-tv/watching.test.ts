import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { listSegments } from '#platform/live/segments.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { broadcast, type TunerBox, tunerBox } from '#support/tuner-box.ts';

interface Entry {
  sequence: number;
  date: number;
  seconds: number;
  discontinuity: boolean;
}

/** The segments of a playlist. */
function entriesOf(text: string): Entry[] {
  const entries: Entry[] = [];
  let next = { date: 0, seconds: 0, discontinuity: false };
  for (const line of text.split('\n')) {
    if (line === '#EXT-X-DISCONTINUITY') next.discontinuity = true;
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) next.date = Date.parse(line.slice(25));
    else if (line.startsWith('#EXTINF:')) next.seconds = Number.parseFloat(line.slice(8));
    else if (line.startsWith('segments/')) {
      entries.push({ sequence: Number.parseInt(line.slice(9), 10), ...next });
      next = { date: 0, seconds: 0, discontinuity: false };
    }
  }
  return entries;
}

/** Ends the process that a supervisor started, as the kernel does without memory. */
function killChildOf(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const child of children) process.kill(Number(child), 'SIGKILL');
}

describe('watching live television', function () {
  this.timeout(60_000);
  let api: Api;
  let stage: LiveStage;
  let box: TunerBox;
  let one: string;
  let two: string;
  let viewer: TestClient;
  let headers: Record<string, string>;
  let tuner: ChildProcess;

  const watch = (channel: string, more: object = {}) =>
    viewer.watchLiveChannel({ params: { id: channel }, body: { client: { builtIn: 'chromium' }, ...more } });
  const list = async (id: string, query = '') => {
    const answer = await api.fetch(`/api/v1/live/sessions/${id}/source/index.m3u8${query}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  const end = (id: string) => viewer.endPlaybackSession({ params: { id } });

  before(async () => {
    api = await startApi();
    stage = new LiveStage(api);
    await stage.prepare();
    box = await tunerBox('h264', 1);
    const roof = await stage.tuner(1);
    one = await stage.channel('One', [{ tunerId: roof, url: box.channel('1') }]);
    two = await stage.channel('Two', [{ tunerId: roof, url: box.channel('2') }]);
    const owner = await api.given.owner();
    headers = owner.headers;
    viewer = api.as(owner);
    tuner = await stage.process(roof);
  });

  it('plays a channel as it is received, from its first keyframe on', async () => {
    const { status, body } = await watch(one);
    expect(status).to.equal(201);
    const { session } = body;
    expect(session.decision).to.include({ method: 'direct_stream', container: 'ts' });
    expect(session.live?.channel.name).to.equal('One');
    const master = await api.fetch(session.url, { headers });
    expect(await master.text()).to.match(/CODECS="avc1[^"]*,mp4a.40.2".*RESOLUTION=320x180\nsource\/index.m3u8/);
    const first = entriesOf((await list(session.id)).text);
    expect(first.length).to.be.greaterThan(0);
    expect(first[0]?.seconds).to.be.lessThan(3);
    const segment = await api.fetch(`/api/v1/live/sessions/${session.id}/source/segments/${first[0]?.sequence}.ts`, {
      headers,
    });
    expect(segment.headers.get('etag')).to.be.a('string');
    expect(segment.headers.get('cache-control')).to.contain('immutable');
    const path = join(temporaryFolder('live-segment'), 'first.ts');
    writeFileSync(path, Buffer.from(await segment.arrayBuffer()));
    const flags = execFileSync('ffprobe', [
      ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'packet=flags', '-of', 'csv=p=0', path],
    ]);
    expect(flags.toString().split('\n')[0]).to.match(/^K/);
    await end(session.id);
  });

  it('shares one stream among its viewers, with numbers that go on and lists that wait', async () => {
    const [first, second] = await Promise.all([watch(one), watch(one, { client: { builtIn: 'safari' } })]);
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(box.most).to.equal(1);
    const { id } = second.body.session;
    const before = entriesOf((await list(id)).text);
    const next = (before.at(-1)?.sequence ?? 0) + 1;
    const waited = entriesOf((await list(id, `?_HLS_msn=${next}&window=short`)).text);
    expect(waited.at(-1)?.sequence).to.be.at.least(next);
    expect(waited.map((entry) => entry.sequence)).to.deep.equal(waited.map((_, at) => (waited[0]?.sequence ?? 0) + at));
    const last = waited.at(-1);
    expect(Date.now() - ((last?.date ?? 0) + (last?.seconds ?? 0) * 1000)).to.be.within(-500, 9000);
    const { body: live } = await viewer.getLiveSession({ params: { id } });
    expect(live.viewers).to.equal(2);
    expect(Date.parse(live.liveEdge)).to.be.greaterThan(Date.parse(live.bufferFrom));
    expect(live.tuner?.slot).to.equal(0);
    await Promise.all([end(id), end(first.body.session.id)]);
  });

  it('changes the channel of a tuner with one slot, and names who uses it otherwise', async () => {
    const { body: first } = await watch(one);
    const member = await api.given.person('member');
    const other = await api
      .as(member)
      .watchLiveChannel({ params: { id: two }, body: { client: { builtIn: 'chromium' } } });
    expect(other.status).to.equal(409);
    expect(other.body).to.have.nested.property('error.details.reason', 'tuners-busy');
    expect(other.body).to.have.nested.property('error.details.inUse[0].channelName', 'One');
    const { status, body: second } = await watch(two, { replaces: first.session.id });
    expect(status).to.equal(201);
    expect(box.most).to.equal(1);
    expect((await list(first.session.id)).status).to.equal(404);
    await end(second.session.id);
  });

  it('tunes once for two requests with one Idempotency-Key, and ends no session for the second', async () => {
    const { body: first } = await watch(one);
    const body = { client: { builtIn: 'chromium' }, replaces: first.session.id } as const;
    const zap = () =>
      viewer.watchLiveChannel({ params: { id: two }, body, headers: { 'idempotency-key': 'zap' } } as never);
    const { db } = api.deps;
    const tuned = () => db('live_streams').where({ channel_id: two, state: 'live', ended_at: null }).pluck('id');
    let early: unknown[] = [];
    const sent = async () => {
      const answer = await zap();
      if (answer.status === 409) early = await tuned();
      return answer;
    };
    const both = await Promise.all([sent(), sent()]);
    expect(early, 'tuned for the second').to.deep.equal([]);
    expect(both.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([201, 409]);
    const made = both.find(({ status }) => status === 201);
    const refused = both.find(({ status }) => status === 409);
    expect(refused?.body).to.have.nested.property('error.details.reason', 'in-progress');
    const id = made?.body.session.id ?? '';
    const again = await zap();
    expect([again.status, again.body.session.id]).to.deep.equal([200, id]);
    expect((await viewer.getLiveSession({ params: { id } })).status).to.equal(200);
    await end(id);
  });

  it('goes on after its process was killed: a gap, and numbers that continue', async () => {
    const { body } = await watch(two);
    const { id } = body.session;
    const before = entriesOf((await list(id)).text);
    killChildOf(tuner.pid ?? 0);
    const after = await eventually(async () => {
      const entries = entriesOf((await list(id)).text);
      return (entries.at(-1)?.sequence ?? 0) > (before.at(-1)?.sequence ?? 0) + 1 && entries;
    }, 30_000);
    expect(after.map((entry) => entry.sequence)).to.deep.equal(after.map((_, at) => (after[0]?.sequence ?? 0) + at));
    expect(after.filter((entry) => entry.discontinuity)).to.have.length.at.least(1);
    await api.deps.redis.flushdb();
    const again = entriesOf((await list(id)).text);
    expect(again.map((entry) => entry.sequence)).to.include.members(after.map((entry) => entry.sequence));
    await end(id);
  });

  it('gives the slot of a viewer who leaves while the tuner is silent to another channel at once', async () => {
    box.silent.add('1');
    const gone = new AbortController();
    const leaving = api
      .fetch(`/api/v1/live/channels/${one}/watch`, {
        ...{ method: 'POST', body: '{"client":{"builtIn":"chromium"}}', signal: gone.signal },
        headers: { ...headers, 'Content-Type': 'application/json' },
      })
      .then(
        () => 'answered',
        () => 'left',
      );
    await eventually(() => box.open.has('1'));
    expect((await watch(two)).status, 'it is waited for').to.equal(409);
    gone.abort();
    expect(await leaving).to.equal('left');
    const began = Date.now();
    const { body } = await eventually(async () => {
      const answer = await watch(two);
      return answer.status === 201 && answer;
    }, 5000);
    expect(Date.now() - began).to.be.lessThan(5000);
    box.silent.delete('1');
    expect(await api.deps.db('playback_sessions').whereNot({ state: 'stopped' }).select('item_id')).to.deep.equal([
      { item_id: two },
    ]);
    await end(body.session.id);
  });

  it('answers other requests at once while more viewers wait for a slow tuner than the pool has connections', async () => {
    const waiting = 2 * (api.deps.db.client as unknown as { pool: { max: number } }).pool.max;
    const silent = await stage.tuner(waiting); // its process does not run
    const names = Array.from({ length: waiting }, (_, at) => `Silent ${at}`);
    const channels = await Promise.all(names.map((name) => stage.channel(name, [{ tunerId: silent, url: box.url }])));
    const gone = new AbortController();
    const watched = channels.map((id) =>
      api
        .fetch(`/api/v1/live/channels/${id}/watch`, {
          ...{ method: 'POST', body: '{"client":{"builtIn":"chromium"}}', signal: gone.signal },
          headers: { ...headers, 'Content-Type': 'application/json' },
        })
        .then(
          (answer) => answer.status,
          () => 'waited',
        ),
    );
    const open = () => api.deps.db('live_streams').where({ tuner_id: silent, ended_at: null }).select('id');
    await eventually(async () => (await open()).length === waiting);
    for (const id of channels.slice(0, 3)) {
      const began = Date.now();
      expect((await viewer.addLiveFavorite({ params: { id } })).status).to.equal(204);
      expect(Date.now() - began).to.be.lessThan(1000);
    }
    gone.abort();
    expect(new Set(await Promise.all(watched))).to.deep.equal(new Set(['waited']));
  });

  it('takes the next source when one fails, also in mid-stream', async () => {
    const [first, second] = [await tunerBox('h264', 1), await tunerBox('h264', 1)];
    const [roof, cellar] = [await stage.tuner(1), await stage.tuner(1)];
    const three = await stage.channel('Three', [
      { tunerId: roof, url: first.channel('3') },
      { tunerId: cellar, url: second.channel('3') },
    ]);
    await Promise.all([stage.process(roof), stage.process(cellar)]);
    await eventually(
      async () => (await api.deps.redis.exists(`foyer:live:tuner:${roof}`, `foyer:live:tuner:${cellar}`)) === 2,
      30_000,
    );
    const { body } = await watch(three);
    const { id } = body.session;
    await list(id);
    first.errors.set('3', '807 No Video Data');
    const failedAt = Date.now();
    first.cut('3');
    await eventually(() => second.open.has('3'), 10_000);
    expect(Date.now() - failedAt).to.be.lessThan(3000);
    const entries = await eventually(async () => {
      const now = entriesOf((await list(id)).text);
      return now.some((entry) => entry.discontinuity) && now;
    });
    expect(entries.map((entry) => entry.sequence)).to.deep.equal(
      entries.map((_, at) => (entries[0]?.sequence ?? 0) + at),
    );
    const { body: live } = await viewer.getLiveSession({ params: { id } });
    expect(live.outages.map(({ reason }) => reason)).to.deep.equal(['ended']);
    await end(id);

    second.errors.set('3', '806 Tune Failed');
    await api.deps.db('live_streams').where({ channel_id: three, ended_at: null }).update({ ended_at: new Date() });
    const refused = await watch(three);
    expect(refused.status).to.equal(502);
    expect(refused.body).to.have.nested.property('error.details.tried[1].reason', 'no-signal');
  });

  it('encodes a broadcast for a client that does not play it, once for all of them', async () => {
    const old = await tunerBox('mpeg2', 1);
    const attic = await stage.tuner(1);
    const four = await stage.channel('Four', [{ tunerId: attic, url: old.channel('4') }]);
    stage.worker();
    await stage.process(attic);
    const [{ status, body }, { body: again }] = await Promise.all([watch(four), watch(four)]);
    expect(status).to.equal(201);
    const { id, decision, live } = body.session;
    expect(decision).to.deep.include({ method: 'transcode', container: 'ts' });
    expect(decision.reasons).to.include.members(['video-codec-not-supported', 'audio-codec-not-supported']);
    const { rendition = '' } = live ?? {};
    const address = `/api/v1/live/sessions/${id}/${rendition}`;
    const answer = await eventually(async () => {
      const response = await api.fetch(`${address}/index.m3u8`, { headers });
      return response.status === 200 && response.text();
    }, 40_000);
    const [first] = entriesOf(answer);
    const segment = await api.fetch(`${address}/segments/${first?.sequence}.ts`, { headers });
    const path = join(temporaryFolder('live-encoded'), 'first.ts');
    writeFileSync(path, Buffer.from(await segment.arrayBuffer()));
    const shown = execFileSync('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      'stream=codec_name,field_order',
      '-of',
      'csv=p=0',
      path,
    ]);
    expect(shown.toString().split('\n').sort()).to.include.members(['aac', 'h264,progressive']);
    const source = entriesOf((await list(again.session.id, '').catch(() => ({ text: '' }))).text);
    expect(source).to.deep.equal([]); // the decision names one rendition
    expect(await api.deps.db('live_renditions').where({ channel_id: four }).select('id')).to.have.length(1);
    await Promise.all([end(id), end(again.session.id)]);
  });

  it('encodes the sound alone where the client plays the pictures', async () => {
    const hd = await tunerBox('h264-mp2', 1);
    const dish = await stage.tuner(1);
    const five = await stage.channel('Five', [{ tunerId: dish, url: hd.channel('5') }]);
    await stage.process(dish);
    const { status, body } = await watch(five);
    expect(status).to.equal(201);
    const { id, decision, live } = body.session;
    expect(decision).to.deep.include({ method: 'direct_stream', quality: 'original' });
    expect([decision.video?.action, decision.audio?.action]).to.deep.equal(['copy', 'encode']);
    expect(decision.reasons).to.deep.equal(['live-source', 'audio-codec-not-supported']);
    const address = `/api/v1/live/sessions/${id}/${live?.rendition}`;
    const entries = await eventually(async () => {
      const response = await api.fetch(`${address}/index.m3u8`, { headers });
      const found = response.status === 200 ? entriesOf(await response.text()) : [];
      return found.length > 4 && found;
    }, 40_000);
    const path = join(temporaryFolder('live-sound'), 'first.ts');
    for (const { sequence } of entries.slice(0, 4)) {
      const segment = await api.fetch(`${address}/segments/${sequence}.ts`, { headers });
      appendFileSync(path, Buffer.from(await segment.arrayBuffer()));
    }
    const probed = (show: string): string[] =>
      execFileSync('ffprobe', ['-v', 'error', '-show_entries', show, '-of', 'csv=p=0', path])
        .toString()
        .trim()
        .split('\n');
    expect(probed('stream=codec_name').map((line) => line.replace(/,.*/, ''))).to.include.members(['aac', 'h264']);
    const times = probed('packet=codec_type,pts_time').map((line) => line.split(','));
    const sorted = (kind: string) =>
      times
        .filter(([type]) => type === kind)
        .map(([, at]) => Number(at))
        .sort((a, b) => a - b);
    const pictures = sorted('video');
    const steps = pictures.slice(1).map((at, n) => at - (pictures[n] ?? 0));
    expect(Math.max(...steps), 'no picture is missing').to.be.lessThan(0.045);
    expect(Math.abs((sorted('audio')[0] ?? 0) - (pictures[0] ?? 0)), 'sound and picture begin together').to.be.lessThan(
      0.3,
    );
    await end(id);
  });

  it('reads a file in place of a broadcast at most a minute ahead of its time', async () => {
    const loop = broadcast('h264'); // of 8 seconds
    let sent = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'video/mp2t' });
      const rounds = function* (): Generator<Buffer> {
        for (let round = 0; round < 100; round += 1) {
          sent += 1;
          yield loop;
        }
      };
      Readable.from(rounds()).pipe(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.closeAllConnections());
    atEnd(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.ts`;
    const shelf = await stage.tuner(1);
    const film = await stage.channel('Film', [{ tunerId: shelf, url }]);
    await stage.process(shelf);
    const { body } = await watch(film);
    const seconds = async (): Promise<number> => {
      const segments = await listSegments(api.deps, film);
      return segments.reduce((sum, one) => sum + one.durationMs, 0) / 1000;
    };
    await eventually(async () => (await seconds()) > 50, 20_000);
    await sleep(3000);
    expect(await seconds()).to.be.lessThan(100);
    expect(sent, 'the rest waits at the provider').to.be.lessThan(40);
    await end(body.session.id);
  });
});
