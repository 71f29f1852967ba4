import { expect } from 'chai';
import { noteRun, tick } from '#areas/maintenance/public.ts';
import { newId } from '#platform/ids.ts';
import { nextOfCron } from '#platform/maintenance/next-run.ts';
import { openingAt, windowOf } from '#platform/maintenance/window.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';

const HOUR = 3_600_000;
const at = (text: string): Date => new Date(text);
const berlin = (more: object = {}) => windowOf({ timeZone: 'Europe/Berlin', ...more }, 'UTC');
const opening = (window: ReturnType<typeof berlin>, now: string): string[] => {
  const found = openingAt(window, at(now));
  return found ? [found.opensAt.toISOString(), found.closesAt.toISOString()] : [];
};

describe('the maintenance window', () => {
  it('is the one that holds, else the next of its days, also past midnight', () => {
    expect(opening(berlin(), '2026-01-10T00:30:00Z')).to.deep.equal([
      '2026-01-10T01:00:00.000Z',
      '2026-01-10T05:00:00.000Z',
    ]);
    expect(opening(berlin(), '2026-01-10T05:00:00Z')[0]).to.equal('2026-01-11T01:00:00.000Z');
    const night = berlin({ from: '23:00', to: '02:00', days: ['sat'] }); // 10 January 2026 is a Saturday
    expect(opening(night, '2026-01-11T00:59:00Z')).to.deep.equal([
      '2026-01-10T22:00:00.000Z',
      '2026-01-11T01:00:00.000Z',
    ]);
    expect(opening(night, '2026-01-11T01:00:00Z')[0]).to.equal('2026-01-17T22:00:00.000Z');
    expect(opening(berlin({ enabled: false }), '2026-01-10T02:00:00Z')).to.deep.equal([]);
  });

  it('begins at the next time that exists, and at the first of two', () => {
    // 29 March 2026: 02:00-03:00 does not exist; 25 October 2026: 02:00-03:00 is twice.
    expect(opening(berlin({ from: '02:30' }), '2026-03-28T12:00:00Z')[0]).to.equal('2026-03-29T01:00:00.000Z');
    expect(opening(berlin({ from: '02:30' }), '2026-10-24T12:00:00Z')).to.deep.equal([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T05:00:00.000Z',
    ]);
  });

  it('gives a cron one run in both clock changes', () => {
    const runs = (from: string, until: string): string[] => {
      const found: string[] = [];
      for (let now = at(from); ; ) {
        const next = nextOfCron('30 2 * * *', 'Europe/Berlin', now);
        if (!next || next > at(until)) return found;
        found.push(next.toISOString());
        now = next;
      }
    };
    expect(runs('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z')).to.have.length(1);
    expect(runs('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z')).to.have.length(1);
  });
});

describe('Maintenance', () => {
  let api: Api;
  let admin: TestClient;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
  });
  beforeEach(async () => {
    await api.deps.db.raw(`truncate maintenance_tasks, jobs cascade`);
    await api.deps.db('maintenance').update({ window: '{}', hold_until: null, revision: 1 });
  });

  const read = async () => (await admin.getMaintenance()).body;
  const task = async (id: string) => (await read()).tasks.find((one) => one.id === id);
  const change = (body: object, headers: Record<string, string> = {}) =>
    admin.updateMaintenance({ body: body as never, headers });
  const move = (id: string, next: Date) => api.deps.db('maintenance_tasks').where({ id }).update({ next_run_at: next });
  const ticked = (now?: Date) => tick(api.deps.db, 'UTC', now);
  const kinds = async () =>
    (await api.deps.db('jobs').orderBy('kind').select('kind')).map(({ kind }: { kind: string }) => kind);

  it('lists every task with its schedule and next run, with the revision as ETag', async () => {
    const { headers, body } = await admin.getMaintenance();
    expect(body).to.deep.include({ state: 'idle', revision: 1, running: [] });
    expect(body.window).to.include({ from: '02:00', to: '06:00', maxConcurrent: 2 });
    expect(body.tasks.find(({ id }) => id === 'events.trim')).to.include({
      trigger: 'cron',
      cron: '*/10 * * * *',
      canDisable: false,
    });
    expect(body.tasks.find(({ id }) => id === 'analysis.intros')).to.include({ trigger: 'window', canDisable: true });
    for (const { id, nextRunAt } of body.tasks) expect(nextRunAt, id).to.be.a('string');
    const again = await admin.getMaintenance({ headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect(again.status).to.equal(304);
  });

  it('starts due tasks once, makes up for a run of the last 12 hours, and passes over older ones', async () => {
    const now = new Date();
    await ticked(now);
    await api.deps.db('jobs').delete();
    await api.deps.db('maintenance_tasks').update({ next_run_at: new Date(now.getTime() + 48 * HOUR) });
    await move('objects.sweep', new Date(now.getTime() - 11 * HOUR));
    await move('artwork.trim', new Date(now.getTime() - 13 * HOUR));
    expect(await ticked(now)).to.deep.equal(['objects.sweep']);
    expect(await ticked(now)).to.deep.equal([]);
    expect(await kinds()).to.deep.equal(['objects.sweep']);
    expect((await task('artwork.trim'))?.lastRun?.state).to.equal('skipped');
    expect((await task('objects.sweep'))?.lastRun?.state).to.equal('running');
    expect(Date.parse((await task('objects.sweep'))?.nextRunAt ?? '')).to.be.greaterThan(now.getTime());
  });

  it('starts tasks of the window while it is open, as many as fit, and holds everything on request', async () => {
    await change({ window: { from: '02:00', to: '06:00', timeZone: 'UTC', maxConcurrent: 2 } });
    const day = new Date(Date.now() + 24 * HOUR).toISOString().slice(0, 10);
    const clock = (time: string) => at(`${day}T${time}:00Z`);
    await api.deps.db('maintenance_tasks').update({ next_run_at: null });
    const analyses = ['analysis.previews', 'analysis.intros', 'analysis.credits'];
    for (const id of analyses) await move(id, clock('02:00'));
    expect(await ticked(clock('01:59'))).to.deep.equal([]);
    await change({ hold: true });
    await api.deps.db('maintenance').update({ hold_until: clock('03:00') });
    expect(await ticked(clock('02:30'))).to.deep.equal([]);
    expect(await ticked(clock('03:00'))).to.deep.equal(analyses.slice(0, 2));
    expect(await ticked(clock('03:01')), 'both places are taken').to.deep.equal([]);
    await api.deps.db('jobs').update({ state: 'completed' });
    expect(await ticked(clock('03:02'))).to.deep.equal(analyses.slice(2));
    expect((await task('analysis.intros'))?.nextRunAt).to.equal(
      new Date(clock('02:00').getTime() + 24 * HOUR).toISOString(),
    );
  });

  it('starts a task at once when its next run is now, once while it waits; a later time moves one run', async () => {
    const now = new Date().toISOString();
    for (let n = 0; n < 2; n += 1)
      expect((await change({ tasks: { 'analysis.intros': { nextRunAt: now } } })).status).to.equal(200);
    expect(await api.deps.db('jobs').select('kind', 'cause', 'state')).to.deep.equal([
      { kind: 'analysis.intros', cause: 'person', state: 'waiting' },
    ]);
    const later = new Date(Date.now() + 100 * HOUR).toISOString();
    await change({ tasks: { 'objects.sweep': { nextRunAt: later } } });
    expect((await task('objects.sweep'))?.nextRunAt).to.equal(later);
    await change({ tasks: { 'objects.sweep': { nextRunAt: null } } });
    expect((await task('objects.sweep'))?.nextRunAt).to.not.equal(later);
  });

  it('changes schedules and restores them, all or nothing', async () => {
    await change({ tasks: { 'objects.sweep': { cron: '0 12 * * *' }, 'stats.rollup': { everyMs: 3_600_000 } } });
    expect(await task('objects.sweep')).to.include({ trigger: 'cron', cron: '0 12 * * *' });
    expect(await task('stats.rollup')).to.include({ trigger: 'interval', everyMs: 3_600_000 });
    await change({ tasks: { 'stats.rollup': { trigger: null } } });
    expect(await task('stats.rollup')).to.include({ trigger: 'cron', cron: '*/15 * * * *' });
    const before = (await read()).revision;
    const issue = async (body: object) => errorOf(await change(body)).details['issues'][0].code;
    expect(await issue({ window: { timeZone: 'Mars/Olympus' } })).to.equal('unknown_zone');
    expect(await issue({ window: { from: '02:00', to: '02:29' } })).to.equal('too_short');
    expect(await issue({ tasks: { 'objects.sweep': { cron: '0 0 30 2 *' } } })).to.equal('never');
    expect((await change({ tasks: { 'no.task': { enabled: false } } })).status).to.equal(400);
    expect((await change({ tasks: { 'stats.rollup': { everyMs: 599_999 } } })).status).to.equal(400);
    const required = await change({
      tasks: { 'objects.sweep': { enabled: false }, 'events.trim': { enabled: false } },
    });
    expect(errorOf(required).details).to.deep.include({ reason: 'task-required', tasks: ['events.trim'] });
    expect((await task('objects.sweep'))?.enabled).to.equal(true);
    expect(errorOf(await change({ hold: true }, { 'if-match': '"1"' })).details['reason']).to.equal('revision');
    expect((await read()).revision).to.equal(before);
    expect((await change({ tasks: { 'objects.sweep': { enabled: false } } })).status).to.equal(200);
    expect(await task('objects.sweep'))
      .to.include({ enabled: false })
      .and.to.not.have.property('nextRunAt');
  });

  it('counts what waits for analyses, and estimates how long it takes', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies');
    for (let n = 0; n < 3; n += 1) {
      const fileId = await givenFile(db, library, await givenItem(db, library));
      await db('analyses').insert({ file_id: fileId, name: 'introDetection', size_bytes: 1, modified_ms: 1 });
    }
    const now = new Date();
    await ticked(now);
    expect(await task('analysis.intros'))
      .to.include({ pending: 3 })
      .and.not.have.property('estimateMs');
    expect(await task('analysis.credits')).to.include({ pending: 0, estimateMs: 0 });
    const jobId = newId();
    await db('jobs').insert({ id: jobId, kind: 'analysis.intros', queue: 'analysis', payload: '{}', done_units: 4 });
    await db('maintenance_tasks')
      .where({ id: 'analysis.intros' })
      .update({ last_job_id: jobId, last_started_at: db.raw(`now() - interval '40 seconds'`) });
    await noteRun(db, { id: jobId, kind: 'analysis.intros', state: 'completed' });
    expect((await task('analysis.intros'))?.estimateMs).to.be.within(30_000, 35_000);
    await db('analyses').delete();
    await ticked(new Date(now.getTime() + 60_000));
    expect(await task('analysis.intros'), 'counted a minute ago').to.include({ pending: 3 });
    await ticked(new Date(now.getTime() + 300_000));
    expect(await task('analysis.intros')).to.include({ pending: 0, estimateMs: 0 });
  });

  it('counts failures in a row and measures how long a run takes', async () => {
    await change({ tasks: { 'objects.sweep': { nextRunAt: new Date().toISOString() } } });
    const [job] = await api.deps.db('jobs').select('id');
    const ended = (state: 'completed' | 'failed', error?: string) =>
      noteRun(api.deps.db, { id: job?.id ?? '', kind: 'objects.sweep', state, error });
    expect([await ended('failed', '{"code":"guard","message":"too many"}'), await ended('failed')]).to.deep.equal([
      1, 2,
    ]);
    expect(await ended('completed')).to.equal(0);
    expect(await ended('failed')).to.equal(1);
    expect(await task('objects.sweep')).to.have.property('averageMs');
  });
});
