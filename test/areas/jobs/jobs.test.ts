import { expect } from 'chai';
import { jobSorts, latest } from '#areas/jobs/jobs.schemas.ts';
import { compactCounts, type JobsWanted, selectJobs } from '#areas/jobs/jobs.store.ts';
import { walkQuery } from '#kernel/keyset.ts';
import { parseSort } from '#kernel/page.ts';
import { connectDatabase } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { ALIVE } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';

describe('Jobs', () => {
  let api: Api;
  let owner: Person;
  beforeEach(async () => {
    api ??= await startApi();
    owner ??= await api.given.owner();
    await api.deps.db('jobs').delete();
  });

  const add = async (row: object = {}): Promise<string> => {
    const id = newId();
    const payload = JSON.stringify({ itemId: id });
    await api.deps.db('jobs').insert({ id, kind: 'items.similar', queue: 'analysis', payload, ...row });
    return id;
  };
  const job = (id: string) => api.deps.db('jobs').where({ id }).first<Record<string, unknown>>();
  const listed = async (query: Record<string, string> = {}, who = owner) => {
    const { status, body } = await api.as(who).listJobs({ query });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);

  describe('listJobs', () => {
    it('lists active ones before others, then the newest', async () => {
      const old = await add({ created_at: new Date(1000) });
      const active = await add({ state: 'active', created_at: new Date(2000) });
      const young = await add({ created_at: new Date(3000) });
      expect(ids(await listed())).to.deep.equal([active, young, old]);
      expect(ids(await listed({ sort: 'createdAt' }))).to.deep.equal([old, active, young]);
      const first = await listed({ limit: '2' });
      expect(ids(first)).to.deep.equal([active, young]);
      expect(ids(await listed({ limit: '2', cursor: first.page.cursor ?? '' }))).to.deep.equal([old]);
    });

    it('filters by kind and family, queue, state, target, library, parent and change', async () => {
      const parent = await add({ kind: 'subtitles.batch', queue: 'speech' });
      const child = await add({ kind: 'subtitles.generate', queue: 'speech', parent_id: parent, state: 'active' });
      const other = await add({
        target: JSON.stringify({ kind: 'item', id: ABSENT }),
        library_id: ABSENT,
        state: 'failed',
      });
      expect(ids(await listed({ kind: 'subtitles.*' }))).to.deep.equal([parent]);
      expect(ids(await listed({ kind: 'items.similar', queue: 'analysis' }))).to.deep.equal([other]);
      expect(ids(await listed({ parentId: parent }))).to.deep.equal([child]);
      expect(ids(await listed({ state: 'failed,completed', targetId: ABSENT, libraryId: ABSENT }))).to.deep.equal([
        other,
      ]);
      expect(ids(await listed({ ids: `${child},${other}` })).sort()).to.deep.equal([child, other].sort());
      const since = new Date(Date.now() + 60_000).toISOString();
      expect(ids(await listed({ since }))).to.deep.equal([]);
      const [shown] = (await listed({ ids: parent })).items;
      expect(shown?.children).to.deep.include({ total: 1, active: 1 });
    });

    it('shows those without job:manage their own alone, and no queues', async () => {
      const member = await api.given.member();
      const own = await add({ by_account_id: member.accountId });
      await add();
      const body = await listed({}, member);
      expect(ids(body)).to.deep.equal([own]);
      expect(body).to.not.have.property('queues');
      expect(ids(await listed({ mine: 'true' }))).to.deep.equal([]);
    });

    it('shows the title of a library only to those who see it', async () => {
      const { body: library } = await api.as(owner).createLibrary({
        body: { name: 'Secret films', type: 'movies', folders: [], access: { everyone: false } } as never,
      });
      const member = await api.given.member();
      await add({ by_account_id: member.accountId, target: JSON.stringify({ kind: 'library', id: library.id }) });
      expect((await listed()).items[0]?.target).to.include({ title: 'Secret films' });
      expect((await listed({}, member)).items[0]?.target).to.deep.equal({ kind: 'library', id: library.id });
    });

    it('counts queues exactly, also after a job moved and the counts were drawn together', async () => {
      await Promise.all(Array.from({ length: 5 }, () => add()));
      const [id] = ids(await listed());
      await api.deps.db('jobs').where({ id }).update({ state: 'failed', finished_at: new Date() });
      const analysis = async () => (await listed()).queues?.find(({ queue }) => queue === 'analysis');
      expect(await analysis()).to.include({ waiting: 4, active: 0, failed: 1, workers: 0, pausedFor: 'no-worker' });
      await compactCounts(api.deps.db);
      expect(await analysis()).to.include({ waiting: 4, failed: 1 });
      await api.deps.db('jobs').delete();
      expect(await analysis()).to.include({ waiting: 0, failed: 0 });
    });

    it('names the person who paused a queue, and the jobs that wait for it', async () => {
      const { db, settings } = api.deps;
      const [waiting, active] = [await add(), await add({ state: 'active' })];
      const elsewhere = await add({ queue: 'media' });
      const queueStates = async () => {
        const { items, queues = [] } = await listed();
        const standing = ['analysis', 'media'].map((name) => {
          const { paused, pausedFor } = queues.find(({ queue }) => queue === name) ?? {};
          return [name, paused, pausedFor];
        });
        return { waits: new Map(items.map(({ id, waitsFor }) => [id, waitsFor])), standing };
      };
      const pause = async (queues: string[]): Promise<void> => {
        await saveSettings(db, { 'jobs.paused': queues }, null);
        await settings.reload();
      };
      const nothing = new Map([waiting, active, elsewhere].map((id) => [id, undefined]));
      expect(await queueStates()).to.deep.equal({
        waits: nothing,
        standing: [
          ['analysis', false, 'no-worker'],
          ['media', false, 'no-worker'],
        ],
      });
      await pause(['analysis']);
      expect(await queueStates()).to.deep.equal({
        waits: new Map([...nothing, [waiting, 'pause']]),
        standing: [
          ['analysis', true, 'person'],
          ['media', false, 'no-worker'],
        ],
      });
      const worker = connectDatabase(api.config.databaseUrl, api.deps.log, { max: 1 });
      await worker.raw('select pg_advisory_lock(?, 1)', [ALIVE]); // by which a living worker is known
      expect((await queueStates()).standing).to.deep.equal([
        ['analysis', true, 'person'],
        ['media', false, undefined],
      ]);
      await worker.destroy();
      await pause([]);
      expect((await queueStates()).waits).to.deep.equal(nothing);
    });

    it('reports the progress of a job and its unit, and the reason of a postponed one', async () => {
      const units = { done_units: 5_000_000_000, total_units: 8_000_000_000, unit: 'bytes' };
      const active = await add({ state: 'active', ...units });
      const endless = await add({ state: 'active', done_units: 7, unit: 'items' });
      const runAt = new Date(Date.now() + 60_000);
      const [held, timed] = [
        await add({ state: 'delayed', waits_for: 'storage', run_at: runAt }),
        await add({ state: 'delayed', run_at: runAt }),
      ];
      const { items } = await listed();
      const of = (id: string) => items.find((one) => one.id === id);
      expect(of(active)).to.include({ doneUnits: 5_000_000_000, totalUnits: 8_000_000_000, unit: 'bytes' });
      expect(of(endless)).to.include({ doneUnits: 7, unit: 'items' }).and.not.have.property('totalUnits');
      expect(of(held)).to.include({ waitsFor: 'storage', runAt: runAt.toISOString() });
      expect(of(timed)).to.not.have.any.keys('waitsFor', 'doneUnits', 'unit');
    });

    it('reports jobs that wait for playback or for a place, and the remaining time of running ones', async () => {
      const { db } = api.deps;
      const worker = connectDatabase(api.config.databaseUrl, api.deps.log, { max: 1 });
      await worker.raw('select pg_advisory_lock(?, 1)', [ALIVE]); // by which a living worker is known
      const analysis = await add();
      const poster = await add({ queue: 'artwork', kind: 'artwork.fetch' });
      const scan = await add({ queue: 'scan', kind: 'library.scan' });
      const waits = async () => {
        const { items, queues = [] } = await listed();
        const still = queues.filter(({ pausedFor }) => pausedFor).map(({ queue, pausedFor }) => [queue, pausedFor]);
        return { waits: [analysis, poster, scan].map((id) => items.find((one) => one.id === id)?.waitsFor), still };
      };
      expect(await waits()).to.deep.equal({ waits: [undefined, undefined, undefined], still: [] });
      const viewer = await api.given.member();
      const library = await givenLibrary(db, 'movies');
      const itemId = await givenItem(db, library);
      const session = newId();
      await db('playback_sessions').insert({
        ...{ id: session, account_id: viewer.accountId, profile_id: viewer.profileId, item_id: itemId },
        ...{
          file_id: newId(),
          library_id: library.id,
          state: 'playing',
          method: 'direct_play',
          decision: '{}',
          url: '/',
        },
      });
      expect(await waits()).to.deep.equal({
        waits: ['streaming', 'streaming', undefined],
        still: [
          ['added', 'streaming'],
          ['artwork', 'streaming'],
          ['analysis', 'streaming'],
        ],
      });
      await db('playback_sessions').where({ id: session }).update({ state: 'paused' });
      const places = api.deps.settings.get('scan.concurrent');
      const started_at = new Date(Date.now() - 60_000);
      const running = await add({ queue: 'scan', kind: 'library.scan', state: 'active', progress: 0.75, started_at });
      for (let n = 1; n < places; n += 1) await add({ queue: 'scan', kind: 'library.scan', state: 'active' });
      expect(await waits()).to.deep.equal({ waits: [undefined, undefined, 'slot'], still: [] });
      const { items } = await listed({ ids: running });
      expect(items[0]?.remainingMs).to.be.within(20_000, 120_000);
      await worker.destroy();
    });

    it('walks an index in its orders and for its filters, and sorts nothing, however many wait', async () => {
      const { db } = api.deps;
      await db.raw(`insert into jobs (id, kind, queue, state, payload, target, created_at, started_at, finished_at)
        select gen_random_uuid(), 'items.similar', 'analysis', case when n % 2 = 0 then 'completed' else 'waiting' end, '{}',
          json_build_object('id', n), at, case when n % 2 = 0 then at end, case when n % 2 = 0 then at end
        from (select n, now() - n * interval '1 second' as at from generate_series(1, 20000) n) made`);
      await db.raw('analyze jobs');
      const planOf = async (wanted: JobsWanted, terms = latest): Promise<string> => {
        const query = selectJobs(db, wanted);
        const { sql, bindings } = walkQuery(
          { db, query, terms, idColumn: 'j.id' },
          { backwards: false, limit: 51 },
        ).toSQL();
        const { rows } = await db.raw<{ rows: Record<string, string>[] }>(`explain ${sql}`, bindings as string[]);
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      };
      const sorted = (sort: string) => planOf({}, parseSort(sort, jobSorts, ''));
      const plans = {
        jobs_latest: await planOf({}),
        jobs_created: await sorted('-createdAt'),
        jobs_started: await sorted('-startedAt'),
        jobs_ended: await sorted('-finishedAt'),
        jobs_priority: await sorted('priority'),
        jobs_progress: await sorted('progress'),
      };
      for (const [index, plan] of Object.entries(plans)) {
        expect(plan).to.include(index);
        expect(plan, plan).to.not.match(/-> +Sort|Seq Scan/);
      }
      expect(await planOf({ targetId: '7' })).to.include('jobs_target');
      expect(await planOf({ kind: 'subtitles.*' })).to.include('jobs_kind');
    });

    it('answers 304 while nothing changed', async () => {
      await add();
      const first = await api.as(owner).listJobs();
      const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
      expect((await api.as(owner).listJobs({ headers })).status).to.equal(304);
      await add();
      expect((await api.as(owner).listJobs({ headers })).status).to.equal(200);
    });
  });

  describe('retryJobs', () => {
    it('lets failed and cancelled ones wait again, under the same id, with their task and from their checkpoint', async () => {
      const failed = await add({ state: 'failed', attempts: 5, error: '{"code":"INTERNAL"}', checkpoint: '{"at":7}' });
      const done = await add({ state: 'completed' });
      const waiting = await add();
      const scan = await add({ kind: 'library.scan', queue: 'scan', state: 'failed' });
      const { body } = await api.as(owner).retryJobs({ body: { ids: [failed, done, waiting, scan, ABSENT] } });
      expect(body).to.deep.include({ matched: 4, changed: 1 });
      expect(new Map(body.skipped.map(({ id, reason }) => [id, reason]))).to.deep.equal(
        new Map([
          [done, 'not-failed'],
          [waiting, 'already-waiting'],
          [scan, 'not-retriable'],
          [ABSENT, 'target-gone'],
        ]),
      );
      expect(await job(failed)).to.deep.include({ state: 'waiting', attempts: 0, error: null, checkpoint: { at: 7 } });
      const tasks = await api.deps.db.raw('select key from graphile_worker._private_jobs where key = ?', [failed]);
      expect(tasks.rows).to.have.length(1);
    });

    it('skips work that another job does or did since, and targets that are gone', async () => {
      const { db } = api.deps;
      const [past, now] = [new Date(1000), new Date(2000)];
      const equal = (n: number) => ({ payload: JSON.stringify({ n }) });
      const done = await add({ state: 'failed', finished_at: past, ...equal(1) });
      await add({ state: 'completed', finished_at: now, ...equal(1) });
      const again = await add({ state: 'failed', finished_at: past, ...equal(2) });
      await add({ state: 'delayed', ...equal(2) });
      const twins = [await add({ state: 'failed', ...equal(3) }), await add({ state: 'failed', ...equal(3) })];
      const gone = await add({ state: 'failed', target: JSON.stringify({ kind: 'library', id: ABSENT }) });
      const worse = await add({ state: 'failed', finished_at: now, ...equal(4) });
      await add({ state: 'completed', finished_at: past, ...equal(4) });
      const all = [done, again, ...twins, gone, worse];
      const { body } = await api.as(owner).retryJobs({ body: { ids: all } });
      const reasons = new Map(body.skipped.map(({ id, reason }) => [id, reason]));
      expect([reasons.get(done), reasons.get(again), reasons.get(gone)]).to.deep.equal([
        'not-retriable',
        'already-waiting',
        'target-gone',
      ]);
      expect(
        twins.map((id) => reasons.get(id)),
        'equal work is one job',
      ).to.have.members(['already-waiting', undefined]);
      expect(body).to.include({ matched: 6, changed: 2 });
      expect((await job(worse))?.state, 'work that was done before the failure is queued again').to.equal('waiting');
      await db('jobs').where({ id: worse }).update({ state: 'failed' });
      const matched = await api.as(owner).retryJobs({ body: { match: { kind: 'items.similar' } } });
      expect(matched.body).to.deep.include({ matched: 5, changed: 1 });
      expect(matched.body.skipped).to.have.length(4);
    });

    it('selects failed ones by filter', async () => {
      const one = await add({ state: 'failed', error: '{"code":"PROVIDER_UNAVAILABLE"}', finished_at: new Date() });
      await add({ state: 'failed', error: '{"code":"INTERNAL"}', finished_at: new Date() });
      await add({ state: 'cancelled', finished_at: new Date() });
      const match = { errorCode: 'PROVIDER_UNAVAILABLE', kind: 'items.*', since: new Date(0).toISOString() };
      const { body } = await api.as(owner).retryJobs({ body: { match } });
      expect(body).to.deep.equal({ matched: 1, changed: 1, skipped: [] });
      expect((await job(one))?.state).to.equal('waiting');
    });
  });

  describe('cancelJobs', () => {
    it('cancels waiting jobs at once, signals running ones, and includes child jobs', async () => {
      const parent = await add();
      const child = await add({ parent_id: parent, state: 'active' });
      const done = await add({ state: 'completed' });
      const deleting = await add({ kind: 'library.delete', queue: 'maintenance' });
      const { body } = await api.as(owner).cancelJobs({ body: { ids: [parent, done, deleting] } });
      expect(body).to.deep.include({ matched: 4, changed: 1, stopping: 1 });
      expect(body.skipped.map(({ reason }) => reason).sort()).to.deep.equal(['final', 'not-cancellable']);
      expect(await job(parent)).to.include({ state: 'cancelled' });
      expect(await job(child)).to.include({ state: 'active', cancel_requested: true });
    });

    it('lets everything be deleted to the end', async () => {
      const kinds = ['library.delete', 'profile.purge', 'user.purge'];
      for (const kind of kinds) await add({ kind, queue: 'maintenance' });
      const { body } = await api.as(owner).cancelJobs({ body: { match: { queue: 'maintenance' } } });
      expect(body).to.deep.include({ matched: 3, changed: 0, stopping: 0 });
      const { items } = await listed();
      expect(items.map(({ kind, cancellable }) => ({ kind, cancellable }))).to.have.deep.members(
        kinds.map((kind) => ({ kind, cancellable: false })),
      );
    });

    it('ends the scan of a job that has not begun', async () => {
      await api.deps.db('library_folders').delete(); // of other tests: folders may not overlap
      const { body: library } = await api.as(owner).createLibrary({
        body: { name: 'Films', type: 'movies', folders: [{ storageId: api.given.storageId, path: '' }] } as never,
      });
      const { body } = await api.as(owner).cancelJobs({ body: { match: { libraryId: library.id } } });
      expect(body).to.include({ changed: 1, stopping: 0 });
      const scan = await api.deps.db('scans').where({ library_id: library.id }).first<{ state: string }>('state');
      expect(scan?.state).to.equal('cancelled');
    });

    it('takes exactly one of ids and match, and no empty match', async () => {
      const bodies = [{}, { ids: [ABSENT], match: { queue: 'scan' } }, { match: {} }, { ids: [] }];
      for (const body of bodies) {
        const answer = await api.as(owner).cancelJobs({ body: body as never });
        expect(answer.status, JSON.stringify(body)).to.equal(400);
      }
    });
  });
});
