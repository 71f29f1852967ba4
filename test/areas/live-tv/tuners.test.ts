import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { DEVICE, HdHomeRun, type LineupEntry, Provider, playlist } from '#support/tuners.ts';
import { handlers } from '#workers/handlers.ts';
import { queueDueScans } from '#workers/live/keeper.ts';
import { createLiveScan } from '#workers/live/scan.ts';
import { startRuntime } from '#workers/runtime.ts';

const LINEUP: LineupEntry[] = [
  { GuideNumber: '2.1', GuideName: 'One HD', HD: 1 },
  { GuideNumber: '2.10', GuideName: 'Ten' },
  { GuideNumber: '2.9', GuideName: 'Nine' },
  { GuideNumber: '7', GuideName: 'Radio One', AudioCodec: 'AC3' },
  { GuideNumber: '9', GuideName: 'Locked', DRM: 1 },
];

const error = (answer: { body: unknown }) => (answer.body as { error: { code: string; details: never } }).error;

describe('tuners', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: Person;
  let member: Person;
  let libraryId: string;
  let device: HdHomeRun;

  const asAdmin = () => api.as(admin);
  const until = async (jobId: string): Promise<void> => {
    await eventually(async () => {
      const row = await api.deps.db('jobs').where({ id: jobId }).first();
      return row !== undefined && ['completed', 'failed'].includes(row.state);
    });
  };
  /** Scans now and waits for the end. */
  const scan = async (id: string, body: object = {}): Promise<void> => {
    const { body: job } = await asAdmin().scanTuner({ params: { id }, body });
    await until((job as { id: string }).id);
  };
  const scanned = async (id: string) =>
    eventually(async () => {
      const { body } = await asAdmin().getTuner({ params: { id } });
      return body.lastScan !== undefined && body.scan === undefined && body;
    });
  const channels = async (query: Record<string, string | number | boolean> = {}, person = admin) =>
    (await api.as(person).listLiveChannels({ query: { limit: 200, ...query } })).body.items;
  const make = async (body: object) => asAdmin().createTuner({ body: { libraryId, ...body } });
  const library = async (): Promise<string> => {
    const answer = await asAdmin().createLibrary({ body: { name: `TV ${Date.now()}`, type: 'livetv', folders: [] } });
    expect(answer.status).to.equal(201);
    return answer.body.id;
  };

  before(async () => {
    api = await startApi({ FOYER_LIVE_NETWORKS: '["127.0.0.0/8"]' });
    admin = await api.given.admin();
    member = await api.given.member();
    device = await HdHomeRun.start(LINEUP);
    const broadcast = { address: '127.0.0.1', port: await device.hear() };
    const { config, db, redis, objects, settings } = api.deps;
    const work = { config, db, redis, objects, settings, log: createLog('silent', 'test') };
    const runtime = await startRuntime(
      work as never,
      { ...handlers, 'live.scan': createLiveScan({ broadcast }) },
      () => undefined,
    );
    atEnd(() => runtime.stop());
    libraryId = await library();
  });

  it('finds devices by address and by broadcast, and adds none', async () => {
    const { host } = new URL(device.url);
    const { body } = await asAdmin().discoverTuners({ body: { addresses: [host], timeoutMs: 500 } });
    expect(body.broadcast).to.equal(true);
    expect(body.items).to.deep.equal([
      ...[
        {
          kind: 'hdhomerun',
          url: device.url,
          deviceId: DEVICE,
          model: 'HDFX-4K',
          slotCount: 2,
          name: 'HDHomeRun FLEX',
        },
      ],
    ]);
    const far = await asAdmin().discoverTuners({ body: { addresses: ['169.254.169.254'], timeoutMs: 500 } });
    expect(error(far)).to.nested.include({
      code: 'VALIDATION_FAILED',
      'details.issues[0].code': 'address_not_allowed',
    });
    expect((await asAdmin().listTuners()).body.items).to.deep.equal([]);
  });

  it('adds an HDHomeRun, and its channels as items of the library', async () => {
    const answer = await make({ name: 'Roof', kind: 'hdhomerun', url: `${device.url}/` });
    expect(answer.status).to.equal(201);
    expect(answer.body).to.include({ slotCount: 2, uploaded: false, state: 'starting' });
    const tuner = await scanned(answer.body.id);
    expect(tuner.device).to.deep.equal({ id: DEVICE, model: 'HDFX-4K', firmware: '20250815' });
    expect(tuner.lastScan).to.include({ found: 5, added: 5, drm: 1, missing: 0, skipped: 0 });
    const shown = await channels();
    expect(shown.map(({ number, name, kind, hd }) => [number, name, kind, hd])).to.deep.equal([
      ['2.1', 'One HD', 'tv', true],
      ['2.9', 'Nine', 'tv', false],
      ['2.10', 'Ten', 'tv', false],
      ['7', 'Radio One', 'radio', false],
    ]);
    expect((await channels({ disabled: true })).map(({ name, drm }) => [name, drm])).to.deep.include(['Locked', true]);
    const items = await api.as(member).listLibraryItems({ params: { id: libraryId } });
    expect(items.body.items.map(({ type }) => type)).to.include('channel');
    expect((await api.as(member).getItem({ params: { id: shown[0]?.id ?? '' } })).body).to.include({ title: 'One HD' });
    const { body: lib } = await asAdmin().getLibrary({ params: { id: libraryId } });
    expect(lib.itemCounts).to.deep.equal({ channel: 5 });
  });

  it('refuses the same device, another kind, closed addresses and a library of another type', async () => {
    const again = await make({ name: 'Roof 2', kind: 'hdhomerun', url: device.url });
    expect(error(again).details).to.include({ reason: 'duplicate-device' });
    const none = await make({ name: 'List', kind: 'm3u', url: `${device.url}/discover.json` });
    expect([none.status, error(none).details]).to.deep.equal([502, { reason: 'not-its-kind' }]);
    const closed = await make({ name: 'Metadata', kind: 'm3u', url: 'http://169.254.169.254/latest' });
    expect(error(closed)).to.nested.include({ 'details.issues[0].code': 'address_not_allowed' });
    const closedPort = await make({ name: 'Closed', kind: 'hdhomerun', url: 'http://127.0.0.1:9' });
    expect(closedPort.status).to.equal(502);
    const films = await asAdmin().createLibrary({ body: { name: 'Films', type: 'movies', folders: [] } });
    const other = await make({ name: 'Films', kind: 'm3u', url: 'http://127.0.0.1:9/x', libraryId: films.body.id });
    expect(error(other)).to.nested.include({ 'details.issues[0].code': 'not_live_tv' });
    expect((await asAdmin().listTuners()).body.items).to.have.length(1);
  });

  it('keeps ids and what a person set, counts missing sources, and prunes them after three scans', async () => {
    const [tuner] = (await asAdmin().listTuners()).body.items;
    const id = tuner?.id ?? '';
    const before = await channels({ disabled: true });
    const one = before.find(({ name }) => name === 'One HD');
    await asAdmin().updateLiveChannel({ params: { id: one?.id ?? '' }, body: { name: 'Mine', number: '1' } });
    device.lineup = [
      { GuideNumber: '2.1', GuideName: 'One UHD', HD: 1 },
      { GuideNumber: '2.9', GuideName: 'Nine HD', HD: 1 },
      ...LINEUP.slice(3),
    ];
    await scan(id);
    const after = await channels({ disabled: true, include: 'sources' });
    expect(after.map((row) => row.id).sort()).to.deep.equal(before.map((row) => row.id).sort());
    expect(after.find((row) => row.id === one?.id)).to.deep.include({
      name: 'Mine',
      number: '1',
      lockedFields: ['name', 'number'],
    });
    expect(after.find(({ number }) => number === '2.9')).to.include({ name: 'Nine HD', hd: true });
    expect(after.find(({ name }) => name === 'Ten')?.sources?.[0]).to.include({ missing: true });
    expect((await asAdmin().getTuner({ params: { id } })).body.lastScan).to.include({ found: 4, added: 0, missing: 1 });
    await scan(id);
    await scan(id);
    await scan(id, { prune: true });
    expect((await channels({ disabled: true })).map(({ name }) => name)).not.to.include('Ten');
    await asAdmin().updateLiveChannel({ params: { id: one?.id ?? '' }, body: { unlock: ['name', 'number'] } });
    device.hidden = [{ GuideNumber: '11', GuideName: 'Eleven' }];
    await scan(id, { deep: true });
    const deep = await channels();
    expect(deep.map(({ name }) => name)).to.include.members(['One UHD', 'Eleven']);
    expect(device.requests).to.include('POST /lineup.post?scan=start');
  });

  it('maps the channels that a scan adds to a guide that names them', async () => {
    const { db } = api.deps;
    const [tuner] = (await asAdmin().listTuners()).body.items;
    const source = newId();
    await db('guide_sources').insert({ id: source, name: 'Guide', kind: 'xmltv', enabled: true });
    await db('guide_channels').insert({ source_id: source, guide_id: 'twelve.example', names: ['Twelve'] });
    device.lineup = [...device.lineup, { GuideNumber: '12', GuideName: 'Twelve' }];
    await scan(tuner?.id ?? '');
    expect(await db('live_channels').where({ guide_source_id: source }).pluck('name')).to.deep.equal(['Twelve']);
    await db('guide_sources').where({ id: source }).delete();
  });

  it('reads programs in the name of HDHomeRun and old devices without discover.json', async () => {
    const threadfin = await HdHomeRun.start([{ GuideNumber: 1000, GuideName: 'Threadfin One' }]);
    threadfin.discover = {
      ...{
        DeviceID: '2023-04-01-threadfin',
        DeviceAuth: 'x',
        FirmwareName: 'bin_1.2',
        FirmwareVersion: '1.2',
        FriendlyName: 'Threadfin',
      },
      ...{
        LineupURL: 'http://threadfin.internal:34400/lineup.json',
        Manufacturer: 'Golang',
        ModelNumber: '1.2',
        TunerCount: '3',
      },
    };
    const old = await HdHomeRun.start([{ GuideNumber: '5', GuideName: 'Old', Tags: 'favorite,drm' }]);
    old.discover = undefined;
    const first = await make({ name: 'Threadfin', kind: 'hdhomerun', url: threadfin.url });
    const second = await make({ name: 'Old', kind: 'hdhomerun', url: old.url, slotCount: 3 });
    expect(await scanned(first.body.id)).to.deep.include({ slotCount: 3, channels: 1 });
    const tuner = await scanned(second.body.id);
    expect([tuner.slotCount, tuner.lastScan?.drm, tuner.device]).to.deep.equal([3, 1, undefined]);
    for (const { body } of [first, second])
      expect((await asAdmin().deleteTuner({ params: { id: body.id } })).status).to.equal(204);
    expect((await channels({ disabled: true })).map(({ name }) => name)).not.to.include.members(['Threadfin One']);
  });

  it('seals credentials and headers, sends them to the provider, and shows none', async () => {
    const provider = await Provider.start(
      playlist([{ name: 'News', id: 'news.de', group: 'News', url: 'http://s/1' }]),
    );
    const url = `http://me:canary1@${new URL(provider.url).host}/get.php?username=me&password=canary2&type=m3u_plus`;
    const made = await make({
      ...{ name: 'List', kind: 'm3u', url, slotCount: 2, userAgent: 'TV/1', headers: { 'X-Key': 'canary3' } },
      exclude: { groups: [], match: '(?i)shop' },
    });
    expect(made.status).to.equal(201);
    const tuner = await scanned(made.body.id);
    expect(tuner.headerNames).to.deep.equal(['X-Key']);
    expect(tuner.url).to.equal(
      `http://***@${new URL(provider.url).host}/get.php?username=***&password=***&type=m3u_plus`,
    );
    const basic = `Basic ${Buffer.from('me:canary1').toString('base64')}`;
    expect(provider.seen.at(-1)).to.include({ 'user-agent': 'TV/1', 'x-key': 'canary3', authorization: basic });
    const rows = await Promise.all(
      ['live_tuners', 'live_sources', 'jobs', 'audit_log'].map((table) => api.deps.db(table as 'jobs').select('*')),
    );
    expect(JSON.stringify([rows, tuner])).not.to.match(/canary/);
    provider.text = playlist([
      { name: 'News 24', id: 'news.de', group: 'News', url: 'http://s/moved' },
      { name: 'SHOP TV', group: 'Shop', url: 'http://s/2' },
      { name: 'Nameless', url: 'http://s/3' },
    ]);
    const [news] = await channels({ filter: 'group:eq:News' });
    await scan(made.body.id);
    const after = await channels({ filter: `tuner:eq:${made.body.id}` });
    expect(after.map(({ name }) => name).sort()).to.deep.equal(['Nameless', 'News 24']);
    expect(after.find(({ name }) => name === 'News 24')?.id).to.equal(news?.id);
    const same = await asAdmin().updateTuner({
      params: { id: made.body.id },
      body: { url: tuner.url, name: 'Renamed' },
    });
    expect(same.body).to.include({ name: 'Renamed', url: tuner.url });
    await asAdmin().deleteTuner({ params: { id: made.body.id } });
  });

  it('takes an uploaded playlist of 3,000 entries disabled, and hostile lists without harm', async () => {
    const entries = Array.from({ length: 3000 }, (_, i) => ({ name: `Channel ${i}`, url: `http://s/${i}` }));
    const form = new FormData();
    const fields = { name: 'Upload', kind: 'm3u', libraryId, slotCount: '1' };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('playlist', new Blob([playlist(entries)], { type: 'audio/x-mpegurl' }), 'list.m3u');
    const sent = await api.fetch('/api/v1/live/tuners', { method: 'POST', headers: admin.headers, body: form });
    expect(sent.status).to.equal(201);
    const { id, uploaded } = (await sent.json()) as { id: string; uploaded: boolean };
    expect(uploaded).to.equal(true);
    const tuner = await eventually(async () => {
      const { body } = await asAdmin().getTuner({ params: { id } });
      return body.lastScan !== undefined && body;
    }, 30_000);
    expect(tuner.lastScan).to.include({ found: 3000, added: 3000 });
    const on = await channels({ filter: `tuner:eq:${id}` });
    expect(on).to.deep.equal([]);
    const bulk = await asAdmin().updateLiveChannels({ body: { filter: `tuner:eq:${id}`, set: { group: 'All' } } });
    expect(bulk.body).to.deep.equal({ matched: 3000, changed: 3000, merged: 0, conflicts: [] });
    expect((await asAdmin().deleteTuner({ params: { id } })).status).to.equal(204);
    const line = await Provider.start(`#EXTM3U ${'x'.repeat(5_000_000)}`);
    const long = await make({ name: 'Long', kind: 'm3u', url: `${line.url}/get.php` });
    expect(long.status).to.equal(201);
    const lastScan = await eventually(async () => {
      const { body } = await asAdmin().getTuner({ params: { id: long.body.id } });
      return (body.lastScan !== undefined || body.state === 'failed') && body;
    });
    expect(lastScan).to.include({ state: 'failed', stateReason: 'not-its-kind' });
    await asAdmin().deleteTuner({ params: { id: long.body.id } });
  });

  it('lets the operator alone own a tuner, whose declared fields people cannot change', async () => {
    const managedBy = {
      kind: 'TunerDevice',
      namespace: 'tv',
      name: 'roof',
      uid: '01900000-0000-7000-8000-00000000aaaa',
    };
    const body = { name: 'Declared', kind: 'm3u', libraryId, url: 'http://127.0.0.1:9/list', slotCount: 2, managedBy };
    expect(error(await make(body)).details).to.include({ by: 'operator' });
    const operator = { headers: { authorization: `Bearer ${api.operatorKey}` } };
    const made = await api.anyone.createTuner({ ...operator, body });
    expect([made.status, made.body.managedFields]).to.deep.equal([201, ['name', 'url', 'slotCount', 'numbering']]);
    const params = { id: made.body.id };
    expect((await api.anyone.createTuner({ ...operator, body })).status).to.equal(200);
    const refused = await asAdmin().updateTuner({ params, body: { name: 'Other' } });
    expect(error(refused).details).to.include({ reason: 'managed-by-resource' });
    expect((await asAdmin().updateTuner({ params, body: { priority: 60 } })).body.priority).to.equal(60);
    expect(error(await asAdmin().deleteTuner({ params })).details).to.include({ reason: 'managed-by-resource' });
    const freed = await api.anyone.updateTuner({ ...operator, params, body: { managedBy: null } });
    expect(freed.body).not.to.have.any.keys('managedBy', 'managedFields');
    expect((await asAdmin().deleteTuner({ params })).status).to.equal(204);
  });

  it('shows slots of rows and pods, and refuses to take a tuner that is in use', async () => {
    const [tuner] = (await asAdmin().listTuners()).body.items;
    const id = tuner?.id ?? '';
    const [channel] = await channels();
    const { db, redis } = api.deps;
    const stream = '01900000-0000-7000-8000-00000000bbbb';
    await db('live_streams').insert({
      id: stream,
      channel_id: channel?.id ?? '',
      tuner_id: id,
      slot: 0,
      state: 'live',
    });
    const report = {
      at: Date.now(),
      ready: true,
      slots: [
        { index: 0, state: 'tuned', signalPercent: 88 },
        { index: 1, state: 'foreign' },
      ],
    };
    await redis.set(
      `foyer:live:tuner:${id}`,
      JSON.stringify({ ...report, pod: { name: 'p', node: 'n', ready: true, restarts: 0 } }),
    );
    const { body } = await asAdmin().getTuner({ params: { id } });
    expect(body.state).to.equal('ready');
    expect(body.slots).to.deep.equal([
      { index: 0, state: 'tuned', channelId: channel?.id, viewers: 0, recordings: 0, signalPercent: 88 },
      { index: 1, state: 'foreign', viewers: 0, recordings: 0 },
    ]);
    await redis.del(`foyer:live:tuner:${id}`); // Redis forgets the report of a silent tuner
    await db('live_tuners')
      .where({ id })
      .update({ created_at: new Date(0) });
    expect((await asAdmin().getTuner({ params: { id } })).body).to.include({
      state: 'unreachable',
      stateReason: 'pod-silent',
    });
    const off = await asAdmin().updateTuner({ params: { id }, body: { enabled: false } });
    expect(error(off).details).to.include({ reason: 'tuner-in-use', viewers: 0 });
    expect(error(await asAdmin().scanTuner({ params: { id }, body: { deep: true } })).details).to.include({
      reason: 'tuner-in-use',
    });
    expect((await asAdmin().getLiveStatus()).body.tuners).to.include({ total: 1, slots: 2, slotsInUse: 1 });
    await db('live_streams').where({ id: stream }).delete();
  });

  it('tests a channel on a free slot alone, and says what the device says', async () => {
    const [channel] = await channels({ include: 'sources' });
    const params = { id: channel?.id ?? '' };
    const clip = execFileSync('ffmpeg', [
      ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=25:d=2', '-f', 'lavfi', '-i', 'sine=d=2'],
      ...['-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'mpegts', 'pipe:1'],
    ]);
    device.stream = (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mpeg' }).write(clip); // and never ends, as television
    };
    const { body } = await asAdmin().testLiveChannel({ params, body: { seconds: 2 } });
    expect(body.results[0]).to.deep.include({
      ok: true,
      videoCodec: 'mpeg2video',
      audioCodecs: ['mp2'],
      width: 320,
      height: 180,
    });
    const faults: [Record<string, string>, number, string][] = [
      [{ 'x-hdhomerun-error': '804 Tuner In Use' }, 503, 'tuners-busy'],
      [{ 'x-hdhomerun-error': '807 No Video Data' }, 503, 'no-signal'],
      [{ 'x-hdhomerun-error': '811 Content Protection Required' }, 403, 'drm'],
      [{}, 503, 'tuners-busy'],
    ];
    for (const [headers, status, reason] of faults) {
      device.stream = (_request, response) => response.writeHead(status, headers).end();
      const answer = await asAdmin().testLiveChannel({ params, body: { seconds: 2 } });
      expect(answer.body.results[0]?.error?.reason).to.equal(reason);
    }
    const shown = await asAdmin().getLiveChannel({ params, query: { include: 'sources' } });
    expect(shown.body.sources?.[0]?.lastTest).to.include({ ok: false });
    const [tuner] = (await asAdmin().listTuners()).body.items;
    await api.deps
      .db('live_tuners')
      .where({ id: tuner?.id })
      .update({ tested_until: new Date(Date.now() + 60_000) });
    const busy = await asAdmin().testLiveChannel({ params, body: { seconds: 2 } });
    expect(error(busy).details).to.include({ reason: 'tuners-busy' });
  });

  it('scans tuners again that are due, and reports a device that fails', async () => {
    const [tuner] = (await asAdmin().listTuners()).body.items;
    const id = tuner?.id ?? '';
    device.discover = { DeviceID: DEVICE, TunerCount: 'none' };
    await api.deps
      .db('live_tuners')
      .where({ id })
      .update({ next_scan_at: new Date(0) });
    expect(await queueDueScans(api.deps.db as never)).to.equal(1);
    await eventually(async () => (await asAdmin().getTuner({ params: { id } })).body.state === 'failed');
    expect((await asAdmin().getTuner({ params: { id } })).body.stateReason).to.equal('not-its-kind');
    expect(await channels()).not.to.deep.equal([]);
  });
});
