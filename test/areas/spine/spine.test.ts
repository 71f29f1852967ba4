import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { noteCheck } from '#platform/spine/packs.store.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { film, type MadePack, makePack, trustedText } from '#support/spine-packs.ts';
import { createSpineImport } from '#workers/spine/import.ts';

const show = { kind: 'show', ids: { wikidata: 'Q900', tvdb: '42' } };
const works: object[] = [
  film(1, {
    ...{ title: 'Metropolis', year: 1927, ids: { wikidata: 'Q151599', imdb: 'tt0017136' }, former: ['wikidata:Q77'] },
    aliases: [{ title: 'Метрополис', language: 'ru' }],
    creators: [{ name: 'Fritz Lang', role: 'director', ids: {} }],
  }),
  film(2, { title: 'Metropolis', year: 2001, ids: { wikidata: 'Q837364' } }),
  film(3, { title: 'The Seventh Seal', year: 1957 }),
  { ...show, title: 'Serial' },
  ...[2, 1].map((n) => ({
    ...{ kind: 'season', ids: { wikidata: `Q90${n}` }, title: `Season ${n}` },
    parent: { ...show, title: 'Serial', index: n },
  })),
];

describe('identity packs', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let member: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    member = await api.given.member();
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText] }, null);
    await api.deps.settings.reload();
  });
  const upload = async ({ bytes }: Pick<MadePack, 'bytes'>, fields: Record<string, string> = {}) => {
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(bytes)]), 'films.foyerspine');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    return api.as(owner).importSpinePack({ body: form as never });
  };
  const reason = (answer: { status: number; body: unknown }): unknown => {
    const { details, code } = errorOf(answer as never) as { code: string; details: { reason?: string } };
    return details.reason ?? code;
  };
  const kept = async () => (await Array.fromAsync(api.deps.objects.list('foyer-spine', ''))).length;
  const runJob = async (id: string): Promise<void> => {
    const job = await api.deps.db('jobs').where({ id }).first('payload');
    const work = {
      ...{ ...api.deps, jobId: id, attempt: 1, signal: new AbortController().signal, checkpoint: null },
      ...{ keep: async () => undefined, report: async () => undefined, emit, enqueue },
    };
    await createSpineImport()(job?.payload as JobPayload<'spine.import'>, work);
    await api.deps.db('jobs').where({ id }).update({ state: 'completed' });
  };
  const find = async (query: Record<string, string>, who = member) => {
    const answer = await api.as(who).lookupSpine({ query: query as never });
    expect(answer.status, JSON.stringify([query, answer.body])).to.equal(200);
    return answer.body.items;
  };

  it('are refused before a job is made, and then not kept', async () => {
    const empty = await api.as(member).lookupSpine({ query: { q: 'x' } });
    expect([empty.status, reason(empty)]).to.deep.equal([409, 'no-pack']);
    const pack = await makePack(works);
    const altered = Buffer.from(pack.bytes);
    altered[40] = (altered[40] ?? 0) ^ 1;
    const delta = await makePack(works, { version: '2026.12.1', base: '2025.01.1' });
    const newer = Buffer.from(pack.bytes);
    newer.writeUInt16LE(9, 8);
    expect(reason(await upload({ bytes: newer }))).to.equal('format-newer');
    expect(reason(await upload(delta))).to.equal('delta-base-missing');
    expect(reason(await upload(pack, { sha256: '0'.repeat(64) }))).to.equal('checksum-differs');
    expect(reason(await upload({ bytes: Buffer.from('not a pack at all') }))).to.equal('VALIDATION_FAILED');
    expect((await upload({ bytes: altered })).status).to.be.oneOf([400, 409]);
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [] }, null);
    await api.deps.settings.reload();
    expect(reason(await upload(pack))).to.equal('not-trusted');
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText] }, null);
    await api.deps.settings.reload();
    for (const body of [{}, { url: 'https://x.example/', remove: newId() }, { path: 'x' }])
      expect((await api.as(owner).importSpinePack({ body: body as never })).status).to.equal(400);
    for (const url of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://169.254.169.254/x', 'https://foyer.svc/x'])
      expect((await api.as(owner).importSpinePack({ body: { url } })).status, url).to.equal(400);
    expect(reason(await api.as(owner).importSpinePack({ body: { current: true } }))).to.equal('none-available');
    expect((await upload(pack, { dryRun: 'true' })).status).to.equal(200);
    expect(await kept()).to.equal(0);
    expect(await api.deps.db('jobs').where({ kind: 'spine.import' }).first('id')).to.equal(undefined);
  });

  it('are refused with 400 for a path that is no file, without waiting for a pipe', async () => {
    const [root] = api.deps.config.mediaRoots;
    const at = (name: string): string => join(root?.path ?? '', name);
    await mkdir(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    await symlink('/dev/zero', at('outside'));
    await symlink('folder', at('link'));
    const socket = createServer().listen(at('socket'));
    await once(socket, 'listening');
    await writeFile(at('text'), 'not a pack at all');
    await writeFile(at('empty'), '');
    const { storageId } = api.given;
    for (const path of [
      '.',
      'folder',
      'folder/',
      'link',
      'pipe',
      'socket',
      'outside',
      'absent',
      'text/x',
      'text',
      'empty',
    ]) {
      const answer = await api.as(owner).importSpinePack({ body: { storageId, path } });
      expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.equal(400);
    }
    socket.close();
    const pack = await makePack(works);
    await writeFile(at('films.foyerspine'), pack.bytes);
    const body = { storageId, path: 'films.foyerspine', dryRun: true };
    expect((await api.as(owner).importSpinePack({ body })).status).to.equal(200);
  });

  it('are loaded from an upload, shown, replaced only by newer ones, and removed', async () => {
    const pack = await makePack(works, { version: '2026.11.2' });
    const library = await givenLibrary(api.deps.db, 'movies', { everyone: true });
    await givenItem(api.deps.db, library, { top: true, external_ids: { wikidata: 'Q151599' } });
    await givenItem(api.deps.db, library, { top: true });
    const answer = await upload(pack, { sha256: pack.sha256 });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    expect(answer.body).to.deep.include({ willAdd: 6, willReplace: 0 });
    const jobId = answer.body.job?.id ?? '';
    expect(reason(await upload(pack))).to.equal('import-running');
    expect((await api.as(owner).getSpine()).body.importing).to.include({ jobId, phase: 'fetching' });
    await runJob(jobId);
    expect(await kept()).to.equal(0);
    expect(reason(await upload(await makePack(works, { version: '2026.11.1' })))).to.equal('older-version');
    await noteCheck(api.deps.db, {
      ...{ name: 'films', version: '2026.12.1', sizeBytes: 5, publishedAt: '2026-12-01T00:00:00Z' },
      ...{ url: 'https://packs.example/x', sha256: 'a'.repeat(64) },
    });
    const shown = await api.as(owner).getSpine();
    expect(shown.status, JSON.stringify(shown.body)).to.equal(200);
    const status = shown.body;
    expect(status.works).to.include({ movie: 3, show: 1, episode: 0 });
    expect(status.coverage?.[0]).to.include({ items: 2, identified: 1, percent: 50 });
    expect(status.available).to.include({ version: '2026.12.1', delta: false });
    expect(status.packs[0]).to.include({ name: 'films', version: '2026.11.2', sha256: pack.sha256 });
    expect((await api.as(member).getSpine()).body).to.not.have.any.keys('coverage', 'trustedKeys', 'available');
  });

  it('answer lookups by id, former id, title, alias and parent', async () => {
    expect((await find({ id: 'imdb:tt0017136' }))[0]).to.include({ title: 'Metropolis', matchedBy: 'id', score: 1 });
    expect((await find({ id: 'wikidata:Q77' }))[0]?.ids).to.include({ wikidata: 'Q151599' });
    expect(await find({ id: 'imdb:tt1' })).to.deep.equal([]);
    expect((await find({ q: 'metropolis', year: '1928' })).map(({ year }) => year)).to.deep.equal([1927, 2001]);
    expect((await find({ q: 'metropolis', sort: '-year' })).map(({ year }) => year)).to.deep.equal([2001, 1927]);
    expect((await find({ q: 'МЕТРОПОЛИС' }))[0]).to.include({ year: 1927, matchedBy: 'alias' });
    expect((await find({ q: 'metropolis', creator: 'fritz lang' }))[0]).to.include({ year: 1927 });
    expect((await find({ q: 'sevent seal' }))[0]).to.include({ title: 'The Seventh Seal' });
    expect((await find({ q: 'metropolis', language: 'ru' }))[0]?.title).to.equal('Метрополис');
    expect((await find({ parentId: 'tvdb:42' })).map(({ title }) => title)).to.deep.equal(['Season 1', 'Season 2']);
    const local = await find({ id: 'wikidata:Q151599', include: 'localItems' });
    expect(local[0]?.localItems).to.have.length(1);
    expect((await api.as(member).lookupSpine({ query: { q: 'x', id: 'imdb:tt1' } })).status).to.equal(400);
    const first = await api.as(member).lookupSpine({ query: { q: 'metropolis', limit: 1 } });
    expect(first.body.page).to.include({ hasMore: true, total: 2 });
    const next = await api
      .as(member)
      .lookupSpine({ query: { q: 'metropolis', limit: 1, cursor: first.body.page.cursor ?? '' } });
    expect(next.body.items[0]?.year).to.equal(2001);
  });

  it('show children and guests only works that an item visible to them has', async () => {
    const child = await api.given.child(6);
    expect(await find({ q: 'metropolis' }, child)).to.have.length(1);
    await api.deps.db('items').whereRaw(`external_ids ->> 'wikidata' = 'Q151599'`).update({ age_years: 16 });
    expect(await find({ q: 'metropolis' }, child)).to.deep.equal([]);
    expect(await find({ q: 'metropolis' })).to.have.length(2);
  });

  it('bear hostile titles, and limit an account to 60 lookups a minute', async () => {
    const other = await api.given.member();
    for (const q of [
      '%',
      '_',
      "'; drop table spine_works --",
      '{"a"}',
      '\\',
      '"',
      'a'.repeat(200),
      'x'.repeat(3),
      '|',
      '𝕸',
    ])
      expect((await api.as(other).lookupSpine({ query: { q } })).status, q).to.equal(200);
    let status = 200;
    for (let n = 0; n < 60 && status === 200; n += 1)
      ({ status } = await api.as(other).lookupSpine({ query: { id: 'imdb:tt1' } }));
    expect(status).to.equal(429);
  });

  it('are removed by their id', async () => {
    const { id = '' } = (await api.as(owner).getSpine()).body.packs[0] ?? {};
    const answer = await api.as(owner).importSpinePack({ body: { remove: id } });
    await runJob(answer.body.job?.id ?? '');
    expect((await api.as(owner).getSpine()).body).to.include({ installed: false });
  });
});
