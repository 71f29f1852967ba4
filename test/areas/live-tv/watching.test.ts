import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { type TunerBox, tunerBox } from '#support/tuner-box.ts';

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

describe('watching live television', function () {
  this.timeout(60_000);
  let api: Api;
  let stage: LiveStage;
  let box: TunerBox;
  let one: string;
  let two: string;
  let viewer: TestClient;
  let headers: Record<string, string>;
  let process: Awaited<ReturnType<LiveStage['process']>>;

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
    const tuner = await stage.tuner(1);
    one = await stage.channel('One', [{ tunerId: tuner, url: box.channel('1') }]);
    two = await stage.channel('Two', [{ tunerId: tuner, url: box.channel('2') }]);
    const owner = await api.given.owner();
    headers = owner.headers;
    viewer = api.as(owner);
    process = await stage.process(tuner);
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
});
void spawnSync;
void eventually;
void (undefined as unknown as typeof process);
