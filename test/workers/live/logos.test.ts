// Logos of channels, from the job that reads their guide to the answer of the API.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { png } from '#support/pictures.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { fetchArtwork } from '#workers/artwork/fetch.ts';
import { fetchLogos } from '#workers/live/logos.ts';
import { type GuidePlaceForTests, guideOf, newGuidePlace } from './support.ts';

describe('logos of channels', function () {
  this.timeout(60_000);
  let place: GuidePlaceForTests;
  let host: string;
  let requested: string[];
  const pictures = new Map<string, Buffer>();

  before(async () => {
    place = await newGuidePlace();
    const server = createServer((request, response) => {
      requested.push(request.url ?? '');
      const picture = pictures.get(request.url ?? '');
      response.writeHead(picture ? 200 : 404).end(picture);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    pictures.set('/one.png', await png(120, 80, '#0044ff')).set('/own.png', await png(90, 90, '#ff0000'));
  });
  beforeEach(() => {
    requested = [];
  });

  const logosOf = async (): Promise<Record<string, number | undefined>> => {
    const { body } = await place.admin.listLiveChannels();
    return Object.fromEntries(body.items.map(({ number, logo }) => [number, logo?.width]));
  };
  const source = async (channelId: string, url: string): Promise<void> => {
    const { db } = place.api.deps;
    const tuner = newId();
    const row = { id: tuner, library_id: place.library.id, name: 'Roof', kind: 'm3u' as const, slot_count: 1 };
    await db('live_tuners').insert({ ...row, state: 'ready' });
    await db('live_sources').insert({
      ...{
        id: newId(),
        channel_id: channelId,
        tuner_id: tuner,
        remote_key: url,
        remote_number: '2',
        remote_name: 'Two',
      },
      ...{ address: 'sealed', logo_url: url },
    });
  };

  it('come with the guide, once, and those of the playlist are preferred', async () => {
    const one = await place.channel('1', { guide_channel_id: 'one.example' });
    const two = await place.channel('2', { guide_channel_id: 'one.example' });
    await place.channel('3');
    await source(two, `${host}/own.png`);
    const guide = guideOf([{ at: 60, title: 'First' }]);
    place.served.body = guide.replace('</channel>', `<icon src="${host}/one.png"/></channel>`);
    const guideId = await place.source();
    await place.api.deps.db('live_channels').whereIn('id', [one, two]).update({ guide_source_id: guideId });
    await place.refresh(guideId);
    expect(await logosOf()).to.deep.equal({ 1: 120, 2: 90, 3: undefined });
    expect(requested.sort()).to.deep.equal(['/one.png', '/own.png']);
    await place.refresh(guideId);
    expect(requested).to.have.lengthOf(2);
    const { body } = await place.admin.getLiveGuide({ query: {} } as never);
    expect(JSON.stringify(body)).to.contain('"logo"');
  });

  it('change with their address, and one that a person removed does not come back', async () => {
    const { db } = place.api.deps;
    pictures.set('/new.png', await png(64, 64, '#00ff00'));
    await db('guide_channels').update({ icon_url: `${host}/new.png` });
    expect(await fetchLogos(place.work())).to.equal(1);
    expect(await logosOf()).to.include({ 1: 64 });
    await db('images').where({ kind: 'logo', width: 64 }).update({ discarded: true });
    expect(await fetchLogos(place.work())).to.equal(0);
  });

  it('are the same after the token of their address changed, and after their artwork is reset', async () => {
    const { db } = place.api.deps;
    const url = (token: string, id = 7) => `${host.replace('//', `//me:${token}@`)}/one.png?id=${id}&token=${token}`;
    pictures.set('/one.png?id=7&token=first', await png(77, 77, '#00ffff'));
    pictures.set('/one.png?id=8&token=third', await png(88, 88, '#00ffff'));
    await db('live_sources').update({ logo_url: url('first') });
    expect(await fetchLogos(place.work())).to.equal(1);
    await db('live_sources').update({ logo_url: url('second') });
    expect(await fetchLogos(place.work())).to.equal(0);
    expect(requested).to.deep.equal(['/one.png?id=7&token=first']);
    expect(await logosOf()).to.include({ 2: 77 });
    const { body } = await place.admin.listLiveChannels();
    const channel = body.items.find(({ number }) => number === '2')?.id ?? '';
    await place.admin.resetItemArtwork({ params: { id: channel, kind: 'logo' }, query: { discard: true } });
    await fetchArtwork({ libraryId: place.library.id }, place.work());
    expect(await logosOf()).to.include({ 2: 77 });
    await db('live_sources').update({ logo_url: url('third', 8) });
    expect(await fetchLogos(place.work())).to.equal(1);
    expect(await logosOf()).to.include({ 2: 88 });
  });

  it('are fetched once by two workers, and none waits for the slow host of another', async () => {
    const { db } = place.api.deps;
    const slow = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    atEnd(() => {
      slow.closeAllConnections();
      slow.close();
    });
    const channels = await Promise.all(Array.from({ length: 10 }, (_, i) => place.channel(String(100 + i))));
    for (const [i, id] of channels.entries()) {
      const quick = `${host}/quick-${i}.png`;
      pictures.set(`/quick-${i}.png`, await png(50 + i, 50, '#ffffff'));
      await source(id, i < 5 ? `http://127.0.0.1:${(slow.address() as AddressInfo).port}/${i}.png` : quick);
    }
    const stop = new AbortController();
    const both = [1, 2].map(() => fetchLogos({ ...place.work(), signal: stop.signal }).catch(() => 0));
    await eventually(async () => (await logosOf())['109'] === 59 || undefined, 8000);
    stop.abort();
    await Promise.all(both);
    expect(requested.filter((url) => url.startsWith('/quick')).sort()).to.deep.equal(
      [5, 6, 7, 8, 9].map((i) => `/quick-${i}.png`),
    );
    await db('live_channels').whereIn('id', channels).update({ enabled: false });
  });

  it('are not fetched from closed addresses, and no fault of theirs fails the job', async () => {
    const { db } = place.api.deps;
    const closed = ['http://169.254.169.254/logo.png', `${host.replace('127.0.0.1', '127.0.0.2')}/one.png`];
    for (const url of [...closed, `${host}/missing.png`]) {
      await db('live_sources').update({ logo_url: url });
      expect(await fetchLogos(place.work()), url).to.equal(0);
    }
    pictures.set('/text.png', Buffer.from('<html></html>'));
    await db('live_sources').update({ logo_url: `${host}/text.png` });
    expect(await fetchLogos(place.work())).to.equal(0);
    expect(requested.sort()).to.deep.equal(['/missing.png', '/text.png']);
  });
});
