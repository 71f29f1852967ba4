import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { dropPieces, PIECE_BYTES, putPiece } from '#platform/spine/source.ts';
import { type Api, startApi } from '#support/api.ts';
import { localOutbound } from '#support/catalogues/local.ts';
import { film, type MadePack, makePack, trustedText } from '#support/spine-packs.ts';
import { atEnd } from '#support/stores.ts';
import { createSpineCheck } from '#workers/spine/check.ts';
import { createSpineImport } from '#workers/spine/import.ts';
import type { Work } from '#workers/work.ts';

const many = (count: number) =>
  Array.from({ length: count }, (_, n) => film(n + 1, { description: `The ${n}th film. `.repeat(20).slice(0, 900) }));

describe('spine.import', () => {
  let api: Api;
  let checkpoint: unknown;
  before(async () => {
    api = await startApi();
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText] }, null);
    await api.deps.settings.reload();
  });
  beforeEach(async () => {
    checkpoint = null;
    const { db } = api.deps;
    for (const { number } of await db('spine_packs').select('number'))
      await db.raw(`drop table foyer_spine.works_${number}`);
    await db('spine_packs').delete();
  });

  const work = (more: Partial<Work> = {}): Work => ({
    ...api.deps,
    ...{ jobId: newId(), attempt: 1, signal: new AbortController().signal, checkpoint: null },
    keep: async (_db, kept) => {
      checkpoint = structuredClone(kept);
    },
    report: async () => undefined,
    ...{ emit, enqueue },
    ...more,
  });
  const run = createSpineImport(() => localOutbound());
  const uploaded = async ({ bytes, sha256 }: MadePack): Promise<JobPayload<'spine.import'>> => {
    const packId = newId();
    for (let n = 0; n * PIECE_BYTES < bytes.length; n += 1)
      await putPiece(
        api.deps.objects,
        { id: packId, number: n },
        bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES),
      );
    return { packId, sha256, importedBy: null, source: { uploaded: true } };
  };
  const failing = async (work_: Promise<unknown>): Promise<string> =>
    work_.then(
      () => 'done',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  const titles = async (): Promise<string[]> => {
    const rows = await api.deps.db('spine_works').orderBy('key').select('doc');
    return rows.map(({ doc }) => (doc as { title: string }).title);
  };
  const tables = async (): Promise<string[]> => {
    const { rows } = await api.deps.db.raw<{ rows: { name: string }[] }>(
      `select relname::text as name from pg_class where relnamespace = 'foyer_spine'::regnamespace and relkind = 'r'`,
    );
    return rows.map(({ name }) => name);
  };
  const pieces = async (): Promise<number> => (await Array.fromAsync(api.deps.objects.list('foyer-spine', ''))).length;

  it('loads a pack that was uploaded, and removes its file', async () => {
    const pack = await makePack([film(1, { title: 'A "quoted" \\ film\u00a0{x}, y' }), film(2)]);
    expect(await run(await uploaded(pack), work())).to.deep.equal({ works: { movie: 2 } });
    expect(await titles()).to.deep.equal(['A "quoted" \\ film\u00a0{x}, y', 'Film 2']);
    expect(await api.deps.db('spine_packs').first('*')).to.include({ name: 'films', version: '2026.11.1' });
    expect(await pieces()).to.equal(0);
  });

  it('replaces the version before it, and a delta changes only its rows', async () => {
    await run(await uploaded(await makePack([film(1), film(2), film(3)])), work());
    const next = { version: '2026.11.2', base: '2026.11.1', gone: ['movie/wikidata:Q2'] };
    await run(await uploaded(await makePack([film(3, { title: 'Renamed' }), film(4)], next)), work());
    expect(await titles()).to.deep.equal(['Film 1', 'Renamed', 'Film 4']);
    expect(await tables()).to.have.length(1);
    const other = await makePack([film(9)], { version: '2026.12.1', base: '2026.10.1' });
    expect(await failing(run(await uploaded(other), work()))).to.equal('delta-base-missing');
    expect(await titles()).to.deep.equal(['Film 1', 'Renamed', 'Film 4']);
    await run(await uploaded(await makePack([film(7)], { version: '2026.12.1' })), work());
    expect(await titles()).to.deep.equal(['Film 7']);
  });

  it('keeps the loaded pack when a pack is altered, untrusted or out of order', async () => {
    await run(await uploaded(await makePack([film(1)])), work());
    const pack = await makePack(many(3000), { version: '2026.11.2' });
    const altered = Buffer.from(pack.bytes);
    altered[altered.length - 9] = (altered.at(-9) ?? 0) ^ 1;
    expect(await failing(run(await uploaded({ ...pack, bytes: altered }), work()))).to.equal('altered');
    expect(await failing(run(await uploaded({ ...pack, sha256: '0'.repeat(64) }), work()))).to.equal('altered');
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [Buffer.alloc(32, 7).toString('base64')] }, null);
    await api.deps.settings.reload();
    expect(await failing(run(await uploaded(pack), work()))).to.equal('not-trusted');
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText] }, null);
    await api.deps.settings.reload();
    expect(await titles()).to.deep.equal(['Film 1']);
    expect(await tables(), 'no table of a load that failed').to.have.length(1);
    expect(await pieces()).to.equal(0);
  });

  it('goes on behind its checkpoint after its process was lost at any block, and lookups see nothing half done', async () => {
    await run(await uploaded(await makePack([film(1)])), work());
    const pack = await makePack(many(5000), { version: '2026.11.2' });
    const given = await uploaded(pack);
    checkpoint = null;
    let lost = 0;
    for (let done = false; !done; ) {
      let kept = 0;
      const dying = work({
        checkpoint: structuredClone(checkpoint),
        keep: async (_db, value) => {
          kept += 1;
          // the transaction of the second checkpoint ends without its commit
          if (kept === 2) throw new Error('lost');
          checkpoint = structuredClone(value);
        },
      });
      const outcome = await failing(run(given, dying));
      done = outcome === 'done';
      if (done) break;
      expect(outcome).to.equal('lost');
      lost += 1;
      expect(await titles()).to.deep.equal(['Film 1']);
    }
    expect(lost).to.be.within(4, 50);
    expect(await run(given, work({ checkpoint })), 'lost behind the switch').to.deep.equal({ works: { movie: 5000 } });
    expect(await titles()).to.have.length(5000);
    expect(await tables()).to.have.length(1);
  });

  it('fetches a pack in ranges and goes on behind the pieces that are there', async () => {
    const noise = Array.from({ length: 4 }, (_, n) => film(n + 1));
    const pack = await makePack(noise);
    const requested: string[] = [];
    const server = createServer((request, response) => {
      requested.push(String(request.headers.range));
      const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(String(request.headers.range)) ?? [];
      response.writeHead(206).end(pack.bytes.subarray(Number(from), Number(to) + 1));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/x`;
    const source = { url, sizeBytes: pack.bytes.length };
    const given = { packId: newId(), sha256: pack.sha256, importedBy: null, source };
    await putPiece(api.deps.objects, { id: given.packId, number: 0 }, pack.bytes);
    await run(given, work());
    expect(requested).to.deep.equal([]);
    await run({ ...given, packId: newId() }, work());
    expect(requested).to.deep.equal([`bytes=0-${pack.bytes.length - 1}`]);
    expect(await titles()).to.have.length(4);
    expect(await failing(createSpineImport()({ ...given, packId: newId() }, work())), 'loopback').to.include(
      'not reached',
    );
    await dropPieces(api.deps.objects, given.packId);
  });

  it('removes a pack', async () => {
    await run(await uploaded(await makePack([film(1)])), work());
    const { id } = (await api.deps.db('spine_packs').first('id')) as { id: string };
    await run({ packId: newId(), sha256: '', importedBy: null, source: { remove: id } }, work());
    expect(await titles()).to.deep.equal([]);
    expect(await tables()).to.deep.equal([]);
  });

  it('is queued by the check for a newer pack, only with spine.auto and not offline', async () => {
    const listing = { packs: [] as object[] };
    const server = createServer((_request, response) => response.end(JSON.stringify(listing))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const check = createSpineCheck(
      () => (_url, options) =>
        localOutbound()(`http://127.0.0.1:${(server.address() as { port: number }).port}/list`, options),
    );
    const set = async (values: object): Promise<void> => {
      await saveSettings(api.deps.db, values, null);
      await api.deps.settings.reload();
    };
    const offer = (version: string, more: object = {}) => ({
      ...{ name: 'films', version, sizeBytes: 9, publishedAt: '2026-11-24T00:00:00Z', sha256: 'a'.repeat(64) },
      ...{ url: 'https://packs.example/x', ...more },
    });
    expect(await check({}, work())).to.deep.equal({ skipped: 'off' });
    await set({ 'spine.auto': true, 'spine.url': 'https://packs.example/list', 'network.offline': true });
    expect(await check({}, work())).to.deep.equal({ skipped: 'offline' });
    await set({ 'network.offline': false });
    await run(await uploaded(await makePack([film(1)])), work());
    listing.packs = [offer('2026.11.1'), offer('2026.9.9'), offer('2026.11.10', { base: '2025.01.1' })];
    listing.packs = listing.packs.filter((one) => (one as { version: string }).version !== '2026.9.9');
    expect(await check({}, work())).to.deep.equal({ available: undefined });
    listing.packs.push(offer('2026.11.9'), offer('2026.11.10', { sizeBytes: 5, base: '2026.11.1' }));
    expect(await check({}, work())).to.deep.equal({ available: '2026.11.10' });
    const job = await api.deps.db('jobs').where({ kind: 'spine.import' }).first('payload', 'state');
    expect(job?.state).to.equal('waiting');
    expect(JSON.stringify(job?.payload)).to.include('"sizeBytes":5');
  });
});
