import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { matchChannels, type ToMatch } from '#areas/live-tv/guide/mappings/matching.ts';
import { newId } from '#platform/ids.ts';
import { seal } from '#platform/keys.ts';
import { type GuidePlaceForTests, guideOf, newGuidePlace } from '../../workers/live/support.ts';

interface Refusal {
  error: { code: string; details: { reason?: string; issues?: { code: string }[] } };
}

describe('guide sources', function () {
  this.timeout(60_000);
  let place: GuidePlaceForTests;
  before(async () => {
    place = await newGuidePlace();
    place.served.body = guideOf([{ at: 60, title: 'First' }], ['one.example', 'two.example']);
  });

  const reasonOf = ({ status, body }: { status: number; body: unknown }): unknown => {
    const { error } = body as Refusal;
    if (!error) throw new Error(JSON.stringify([status, body]));
    return [status, error.details.reason ?? error.details.issues?.[0]?.code ?? error.code];
  };
  const create = (body: object) =>
    place.admin.createGuideSource({ body: { name: 'Guide', kind: 'xmltv', ...body } } as never);
  const upload = (bytes: Buffer, fields: Record<string, string> = {}): Promise<Response> => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ name: 'Uploaded', kind: 'xmltv', ...fields }))
      form.append(name, value);
    form.append('file', new Blob([new Uint8Array(bytes)]), 'tv.xml.gz');
    const { headers } = place.manager;
    return place.api.fetch('/api/v1/live/guide/sources', { method: 'POST', headers, body: form });
  };

  it('saves nothing unless a guide answers there', async () => {
    place.served.status = 404;
    expect(reasonOf(await create({ url: place.served.url }))).to.deep.equal([502, 'unreachable']);
    place.served.status = 200;
    const { body } = place.served;
    place.served.body = '<html/>';
    expect(reasonOf(await create({ url: place.served.url }))).to.deep.equal([502, 'not-xmltv']);
    place.served.body = body;
    for (const url of ['http://169.254.169.254/tv.xml', 'http://127.0.0.2/tv.xml'])
      expect(reasonOf(await create({ url })), url).to.deep.equal([400, 'address_not_allowed']);
    expect(reasonOf(await create({}))).to.deep.equal([400, 'one_place']);
    expect(reasonOf(await create({ url: place.served.url, kind: 'tuner' }))).to.deep.equal([400, 'not_of_kind']);
    expect((await place.admin.listGuideSources()).body.items).to.deep.equal([]);
    const made = await create({ url: place.served.url });
    expect(made.status).to.equal(201);
    expect(made.body).to.include({ state: 'never', refreshHours: 12, days: 14 });
    expect(reasonOf(await create({ url: place.served.url }))).to.deep.equal([409, 'duplicate-source']);
    const refresh = () => place.admin.refreshGuideSource({ params: { id: made.body.id } });
    expect((await refresh()).status, 'the first one waits').to.equal(200);
    await place.refresh(made.body.id);
    expect((await refresh()).status).to.equal(202);
    await place.admin.deleteGuideSource({ params: { id: made.body.id } });
  });

  it('takes an uploaded guide, replaces it, and refuses other files', async () => {
    const { objects } = place.api.deps;
    const keys = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { key } of objects.list('foyer-live', 'sources/')) found.push(key);
      return found;
    };
    const refused = await upload(Buffer.from('no xml'));
    expect(reasonOf({ status: refused.status, body: await refused.json() })).to.deep.equal([400, 'not_xmltv']);
    expect(await keys()).to.deep.equal([]);
    const answer = await upload(gzipSync(guideOf([{ channel: 'up.example', at: 60, title: 'Up' }], ['up.example'])));
    const source = (await answer.json()) as { id: string; uploaded: boolean };
    expect([answer.status, source.uploaded]).to.deep.equal([201, true]);
    await place.refresh(source.id);
    const { body } = await place.admin.listGuideSourceChannels({ params: { id: source.id } });
    expect(body.items.map(({ id, programs }) => [id, programs])).to.deep.equal([['up.example', 1]]);
    await place.admin.deleteGuideSource({ params: { id: source.id } });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await keys()).to.deep.equal([]);
  });

  it('reads the guide that a tuner names, and knows one without', async () => {
    const { db, keys } = place.api.deps;
    const [named, bare] = [newId(), newId()];
    for (const id of [named, bare])
      await db('live_tuners').insert({ id, library_id: place.library.id, name: 'Roof', kind: 'm3u' });
    const own = seal(keys, `${place.served.url}?own`, `live_tuners|own_guide|${named}`);
    await db('live_tuners').where({ id: named }).update({ own_guide: own });
    expect(reasonOf(await create({ kind: 'tuner', tunerId: bare }))).to.deep.equal([409, 'no-own-guide']);
    const made = await create({ kind: 'tuner', tunerId: named });
    expect(made.body).to.include({ tunerId: named, kind: 'tuner' }).and.not.have.property('url');
    expect(await place.refresh(made.body.id)).to.equal(true);
    const channel = await place.channel('7', { name: 'One' });
    await place.refresh(made.body.id);
    expect((await db('live_channels').where({ id: channel }).first()).guide_source_id).to.equal(made.body.id);
    await db('live_tuners').where({ id: named }).delete();
    expect((await db('live_channels').where({ id: channel }).first()).matched_by, 'the mapping goes along').to.equal(
      null,
    );
    await db('live_channels').where({ id: channel }).delete();
  });

  it('leaves declared fields to the resource', async () => {
    const operator = place.api.as({ ...place.manager, headers: { authorization: `Bearer ${place.api.operatorKey}` } });
    const managedBy = { kind: 'TunerDevice', namespace: 'media', name: 'roof', uid: newId() };
    const body = { name: 'Declared', kind: 'xmltv', url: `${place.served.url}?declared`, managedBy };
    expect(reasonOf(await create({ ...body }))).to.deep.equal([403, 'FORBIDDEN']);
    const made = await operator.createGuideSource({ body });
    expect([made.status, (await operator.createGuideSource({ body })).status]).to.deep.equal([201, 200]);
    const params = { id: made.body.id };
    expect(reasonOf(await place.admin.updateGuideSource({ params, body: { days: 3 } }))).to.deep.equal([
      409,
      'managed-by-resource',
    ]);
    expect((await place.admin.updateGuideSource({ params, body: { priority: 80 } })).body.priority).to.equal(80);
    expect(reasonOf(await place.admin.deleteGuideSource({ params }))).to.deep.equal([409, 'managed-by-resource']);
    expect((await operator.deleteGuideSource({ params })).status).to.equal(204);
  });

  it('maps by hand for good, suggests, and matches the rest', async () => {
    const [one, two, other] = [
      await place.channel('21', { name: 'UK: One HD' }),
      await place.channel('22', { name: 'Zwei' }),
      await place.channel('23', { name: 'Unknown' }),
    ];
    const source = await place.source({ url: `${place.served.url}?maps` });
    const mapped = async (): Promise<unknown[]> =>
      (await place.api.deps.db('live_channels').whereIn('id', [one, two, other]).orderBy('number')).map(
        ({ guide_channel_id: guide, matched_by: by }) => [guide, by],
      );
    expect(await mapped()).to.deep.equal([
      ['one.example', 'name'],
      [null, null],
      [null, null],
    ]);
    const listed = await place.admin.listGuideSourceChannels({ params: { id: source }, query: { channelId: one } });
    expect(listed.body.items[0]).to.deep.include({
      ...{ id: 'one.example', mappedTo: [one] },
      suggestion: { channelId: one, score: 0.95, by: 'name' },
    });
    const mappings = [
      { channelId: one, guideSourceId: source, guideChannelId: null },
      { channelId: two, guideSourceId: source, guideChannelId: 'two.example' },
      { channelId: other, guideSourceId: source, guideChannelId: 'nine.example' },
      { channelId: newId(), guideSourceId: source, guideChannelId: 'one.example' },
    ];
    const set = await place.admin.setGuideMappings({ body: { mappings } });
    expect([set.body.changed, set.body.problems.map(({ reason }) => reason).toSorted()]).to.deep.equal([
      2,
      ['no-channel', 'no-guide-channel'],
    ]);
    await place.refresh(source);
    const match = await place.admin.matchGuideChannels({ body: { replace: true, dryRun: false } });
    expect(match.body.applied).to.equal(0);
    expect(await mapped()).to.deep.equal([
      [null, 'hand'],
      ['two.example', 'hand'],
      [null, null],
    ]);
    const rest = await place.admin.listGuideSourceChannels({ params: { id: source }, query: { mapped: false } });
    expect(rest.body.items.map(({ id }) => id)).to.deep.equal(['one.example']);
  });
});

describe('matching channels with guides', () => {
  const channel = (name: string, more: Partial<ToMatch> = {}): ToMatch => ({
    id: name,
    name,
    number: '1',
    tvgIds: [],
    ...more,
  });
  const guide = (guideId: string, names: string[], more: object = {}) => ({
    sourceId: 's',
    guideId,
    names,
    priority: 50,
    ...more,
  });
  const candidates = [
    guide('bbcone.uk', ['BBC One', 'BBC1']),
    guide('itv1p1.uk', ['ITV1 +1']),
    guide('itv1.uk', ['ITV1']),
    guide('daserste.de', ['Das Erste']),
    guide('prosieben.de', ['ProSieben MAXX'], { number: '12' }),
    guide('france2.fr', ['France 2']),
    guide('tele5.es', ['Telé 5']),
  ];

  it('knows names in spite of case, accents, quality and regions, and distinguishes time shifts', () => {
    const found = (one: ToMatch): unknown[] => {
      const [match] = matchChannels([one], candidates);
      return [match?.guideId, match?.by];
    };
    expect(found(channel('UK | bbc one FHD'))).to.deep.equal(['bbcone.uk', 'name']);
    expect(found(channel('BBC 1 (UK)'))).to.deep.equal(['bbcone.uk', 'name']);
    expect(found(channel('ITV1+1 HD'))).to.deep.equal(['itv1p1.uk', 'name']);
    expect(found(channel('ITV1'))).to.deep.equal(['itv1.uk', 'name']);
    expect(found(channel('DE: Das Erste HD'))).to.deep.equal(['daserste.de', 'name']);
    expect(found(channel('TELE 5'))).to.deep.equal(['tele5.es', 'name']);
    expect(found(channel('whatever', { tvgIds: ['FRANCE2.fr'] }))).to.deep.equal(['france2.fr', 'id']);
    expect(found(channel('ProSieben Max', { number: '12' }))).to.deep.equal(['prosieben.de', 'number']);
    expect(found(channel('Eurosport', { number: '12' }))).to.deep.equal([undefined, undefined]);
    expect(found(channel('Radio', { callSign: 'BBC1' }))).to.deep.equal(['bbcone.uk', 'name']);
  });

  it('gives a tie to the higher priority, and 10,000 channels by 10,000 within ten seconds', () => {
    const twice = [guide('a', ['Same']), guide('b', ['Same'], { sourceId: 't', priority: 60 })];
    expect(matchChannels([channel('same')], twice)[0]).to.include({ guideId: 'b', sourceId: 't' });
    const many = Array.from({ length: 10_000 }, (_, i) =>
      guide(`c${i}.example`, [`Channel number ${i}`], { number: '1' }),
    );
    const began = process.cpuUsage(); // other work of the machine does not count
    const matches = matchChannels(
      Array.from({ length: 10_000 }, (_, i) => channel(`XX: channel NUMBER ${i * 2} HD`)),
      many,
    );
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000, 'milliseconds').to.be.lessThan(10_000);
    expect(matches.length).to.be.greaterThan(4999);
  });
});
