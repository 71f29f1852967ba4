import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { errorOf } from '#support/answers.ts';
import type { TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { newPlace, type Place } from '../../workers/scan/support.ts';

describe('Scanning', function () {
  this.timeout(120_000);

  let place: Place;
  let owner: Person;
  let admin: TestClient;
  let member: TestClient;

  beforeEach(async () => {
    place = await newPlace('movies', { guardMinimum: 2, guardPercent: 50 });
    owner ??= await place.api.given.owner();
    admin = place.api.as(owner);
    member = place.api.as(await place.api.given.member());
    await place.put('A (2001)/A (2001).mkv');
    await place.put('B (2002)/B (2002).mkv', 'h264-base.mkv');
  });

  const start = (body?: object) => admin.startScan({ params: { id: place.libraryId }, ...(body ? { body } : {}) });
  const run = (scanId: string) => scanLibrary({ libraryId: place.libraryId, scanId }, place.work(), { settleMs: 0 });
  const get = (id: string, query = {}) => admin.getScan({ params: { id }, query });

  describe('startScan', () => {
    it('queues a quick scan and its job, which a worker completes', async () => {
      const made = await start();
      expect(made.status).to.equal(202);
      expect(made.body).to.include({
        libraryId: place.libraryId,
        state: 'queued',
        mode: 'quick',
        trigger: 'person',
        byUserId: owner.accountId,
      });
      const { db } = place.api.deps;
      const job = await db('jobs').whereRaw(`payload ->> 'scanId' = ?`, [made.body.id]).first();
      expect(job).to.include({ kind: 'library.scan', state: 'waiting', queue: 'scan' });
      await run(made.body.id);
      const done = await get(made.body.id);
      expect(done.body).to.include({ state: 'completed', issueCount: 0, resumes: 0 });
      expect(done.body.counts).to.include({ added: 2, found: 2, done: 2, total: 2 });
      expect(done.body.folders).to.deep.equal([{ folderId: place.folderId, state: 'listed', files: 2, missing: 0 }]);
      expect(done.body.durationMs).to.be.a('number');
    });

    it('returns the scan that covers the request, widens a queued one, and never queues two', async () => {
      const first = await start({ folders: [{ folderId: place.folderId, path: 'A (2001)' }] });
      const same = await start({ folders: [{ folderId: place.folderId, path: 'A (2001)/x' }] });
      expect([same.status, same.body.id]).to.deep.equal([200, first.body.id]);
      const more = await start({ mode: 'full', folders: [{ folderId: place.folderId, path: 'B (2002)' }] });
      expect([more.status, more.body.id, more.body.mode]).to.deep.equal([202, first.body.id, 'full']);
      expect(more.body.targets).to.have.length(2);
      const all = await start({ mode: 'quick' });
      expect([all.status, all.body.id, all.body.targets]).to.deep.equal([202, first.body.id, undefined]);
      expect((await place.api.deps.db('scans').where({ library_id: place.libraryId })).length).to.equal(1);
    });

    it('rejects a library without folders, unknown folders, paths upward and unavailable storages', async () => {
      const { db } = place.api.deps;
      const unknown = await start({
        folders: [{ folderId: owner.accountId }, { folderId: place.folderId, path: '../x' }],
      });
      expect(unknown.status).to.equal(400);
      const stray = await start({ folders: [{ folderId: owner.accountId }] });
      expect(errorOf(stray).details.issues).to.have.length(1);
      await db('storages').where({ id: place.api.given.storageId }).update({ state: 'unavailable' });
      const unavailable = await start();
      await db('storages').where({ id: place.api.given.storageId }).update({ state: 'available' });
      expect([unavailable.status, errorOf(unavailable).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
      await db('library_folders').where({ id: place.folderId }).delete();
      const none = await start();
      expect([none.status, errorOf(none).details.reason]).to.deep.equal([409, 'no-folders']);
      expect((await start({ folders: [{ folderId: place.folderId }] })).status, 'content before state').to.equal(400);
    });

    it('takes no running scan for one of a directory that it may have passed already', async () => {
      const { db } = place.api.deps;
      const whole = await start({ mode: 'full' });
      await db('scans').where({ id: whole.body.id }).update({ state: 'running' });
      const again = await start();
      expect([again.status, again.body.id]).to.deep.equal([200, whole.body.id]);
      const part = await start({ folders: [{ folderId: place.folderId, path: 'A (2001)' }] });
      expect([part.status, part.body.state]).to.deep.equal([202, 'queued']);
    });

    it('requires scan:trigger, and returns 404 for a library that the caller cannot see', async () => {
      const refused = await member.startScan({ params: { id: place.libraryId } });
      expect([refused.status, errorOf(refused).details.permission]).to.deep.equal([403, 'scan:trigger']);
      expect((await admin.startScan({ params: { id: owner.accountId } })).status).to.equal(404);
    });

    it('forgets the marks of purged files with includeIgnored', async () => {
      const { db } = place.api.deps;
      const path = `${place.path.split('/').at(-1)}/A (2001)/A (2001).mkv`;
      await db('ignored_files').insert({ library_id: place.libraryId, storage_id: place.api.given.storageId, path });
      await run((await start({ mode: 'full' })).body.id);
      expect((await place.items()).map((i) => i.title)).to.deep.equal(['B']);
      await run((await start({ mode: 'full', includeIgnored: true })).body.id);
      expect((await place.items()).map((i) => i.title)).to.deep.equal(['A', 'B']);
    });
  });

  describe('listScans and getScan', () => {
    it('shows scans newest first, of visible libraries only, and keeps paths and people from members', async () => {
      const one = (await start({ mode: 'full' })).body.id;
      await run(one);
      const two = (await start({ folders: [{ folderId: place.folderId, path: 'A (2001)' }] })).body.id;
      const list = await admin.listScans({ query: { libraryId: place.libraryId } });
      expect(list.body.items.map((scan) => scan.id)).to.deep.equal([two, one]);
      const done = await admin.listScans({ query: { libraryId: place.libraryId, state: 'completed,failed' } });
      expect(done.body.items.map((scan) => scan.id)).to.deep.equal([one]);
      const first = await admin.listScans({ query: { libraryId: place.libraryId, limit: 1 } });
      const second = await admin.listScans({
        query: { libraryId: place.libraryId, limit: 1, cursor: first.body.page.cursor ?? '' },
      });
      expect(second.body.items.map((scan) => scan.id)).to.deep.equal([one]);
      const theirs = await member.getScan({ params: { id: two } });
      expect(theirs.status).to.equal(200);
      expect(theirs.body).to.not.have.any.keys('byUserId', 'targets', 'issues');
      await place.api.deps.db('libraries').where({ id: place.libraryId }).update({ everyone: false });
      expect((await member.getScan({ params: { id: two } })).status).to.equal(404);
      expect((await member.listScans({ query: { libraryId: place.libraryId } })).body.items).to.deep.equal([]);
    });

    it('keeps the last 200 of a library and those with a pending decision, and issues of the last 20', async () => {
      const { db } = place.api.deps;
      const made = Array.from({ length: 210 }, (_, i) => ({
        ...{ id: newId(), library_id: place.libraryId, mode: 'full', trigger: 'schedule', state: 'completed' },
        queued_at: new Date(Date.now() - (i + 1) * 60_000),
        guard: i === 209 ? JSON.stringify({ decision: 'pending', folderIds: [], sampleIds: [] }) : null,
      }));
      await db('scans').insert(made);
      const rows = made.slice(0, 30).map(({ id }) => ({
        ...{ id: newId(), scan_id: id, kind: 'corrupt', folder_id: place.folderId, path: 'x' },
      }));
      await db('scan_issues').insert(rows);
      await run((await start()).body.id);
      const left = await db('scans').where({ library_id: place.libraryId }).pluck<string[]>('id');
      expect(left).to.have.length(201);
      expect(left).to.include(made[198]?.id).and.include(made[209]?.id);
      expect(left).to.not.include(made[199]?.id);
      expect(await db('scan_issues').where({ folder_id: place.folderId }).pluck('scan_id')).to.have.members(
        made.slice(0, 19).map(({ id }) => id),
      );
    });

    it('does not count a scan of one directory as a first scan: the first whole one announces nothing', async () => {
      await run((await start({ folders: [{ folderId: place.folderId, path: 'A (2001)' }] })).body.id);
      await run((await start({ mode: 'full' })).body.id);
      expect(await place.events('item.added')).to.deep.equal([]);
      await place.put('C (2003)/C (2003).mkv', 'tiny.mp4');
      await run((await start({ mode: 'full' })).body.id);
      expect((await place.events('item.added')).map(({ payload }) => payload['title'])).to.deep.equal(['C']);
    });

    it('shows issues to those who manage the library', async () => {
      await place.put('Bad (2003)/Bad (2003).mkv', 'garbage.mkv');
      const { id } = (await start({ mode: 'full' })).body;
      await run(id);
      const scan = await get(id, { include: 'issues' });
      expect(scan.body.issueCount).to.equal(1);
      expect(scan.body.issues?.[0]).to.deep.include({
        kind: 'corrupt',
        folderId: place.folderId,
        detail: 'not-media: no known container',
      });
      expect((await member.getScan({ params: { id }, query: { include: 'issues' } })).body).to.not.have.property(
        'issues',
      );
    });

    it('takes the counts of a running scan from Redis, or from the checkpoint without it', async () => {
      const { id } = (await start()).body;
      const { db, redis } = place.api.deps;
      await db('scans')
        .where({ id })
        .update({ state: 'running', started_at: new Date(), counts: JSON.stringify({ found: 3 }) });
      expect((await get(id)).body.counts.found).to.equal(3);
      await redis.set(`foyer:scan:${id}`, JSON.stringify({ counts: { found: 7 }, folders: [] }));
      expect((await get(id)).body.counts).to.include({ found: 7, added: 0 });
    });
  });

  describe('cancelScan', () => {
    it('ends a queued one at once, requests the end of a running one, and leaves a final one unchanged', async () => {
      const { id } = (await start()).body;
      const cancelled = await admin.cancelScan({ params: { id } });
      expect([cancelled.status, cancelled.body.state]).to.deep.equal([200, 'cancelled']);
      const { db } = place.api.deps;
      expect((await db('jobs').whereRaw(`payload ->> 'scanId' = ?`, [id]).first()).state).to.equal('cancelled');
      await run(id);
      expect(await place.files()).to.deep.equal([]);
      expect((await admin.cancelScan({ params: { id } })).body.state).to.equal('cancelled');
      const next = (await start()).body.id;
      await db('scans').where({ id: next }).update({ state: 'running', started_at: new Date() });
      await admin.cancelScan({ params: { id: next } });
      expect((await db('scans').where({ id: next }).first()).cancel_requested).to.equal(true);
      expect((await member.cancelScan({ params: { id: next } })).status).to.equal(403);
    });
  });

  describe('decideScanRemovals', () => {
    const lose = async (): Promise<string> => {
      await run((await start({ mode: 'full' })).body.id);
      await rm(join(place.path, 'A (2001)'), { recursive: true });
      await rm(join(place.path, 'B (2002)'), { recursive: true });
      await place.put('C (2003)/C (2003).mkv', 'vp9-opus.webm');
      const { id } = (await start({ mode: 'full' })).body;
      await run(id);
      return id;
    };

    it('shows a sample, and apply marks the items that are still absent', async () => {
      const id = await lose();
      const pendingScans = (await admin.listScans({ query: { guard: 'pending', libraryId: place.libraryId } })).body
        .items;
      expect(pendingScans.map((scan) => scan.id)).to.deep.equal([id]);
      expect(pendingScans[0]?.guard).to.include({ decision: 'pending', wouldMiss: 2, ofTotal: 3, percent: 67 });
      expect(pendingScans[0]?.guard?.sample.map((item) => item.title).sort()).to.deep.equal(['A', 'B']);
      const rows = (await admin.listNotifications()).body.items.filter(({ kind }) => kind === 'scan-guard');
      expect(rows.map(({ target }) => target?.id)).to.deep.equal([place.libraryId]);
      const decided = await admin.decideScanRemovals({ params: { id }, body: { decision: 'apply' } });
      expect(decided.body.guard).to.include({ decision: 'apply', decidedBy: owner.accountId });
      const next = (await admin.listScans({ query: { libraryId: place.libraryId, state: 'queued' } })).body.items[0];
      await run(next?.id ?? '');
      expect((await place.files()).filter((f) => f.missing_since)).to.have.length(2);
      const twice = await admin.decideScanRemovals({ params: { id }, body: { decision: 'keep' } });
      expect([twice.status, errorOf(twice).details.reason]).to.deep.equal([409, 'no-pending-guard']);
    });

    it('keep leaves the items, and only a larger loss requires a new decision', async () => {
      const id = await lose();
      await admin.decideScanRemovals({ params: { id }, body: { decision: 'keep' } });
      await run((await start({ mode: 'full' })).body.id);
      expect((await place.files()).filter((f) => f.missing_since)).to.deep.equal([]);
      expect(
        (await admin.listScans({ query: { guard: 'pending', libraryId: place.libraryId } })).body.items,
      ).to.deep.equal([]);
    });

    describe('of several folders', () => {
      let second: Folder;

      interface Folder {
        id: string;
        put: (title: string, fixture: string) => Promise<void>;
        lose: (title: string) => Promise<void>;
      }

      /** Another folder of the library, with two films. */
      beforeEach(async () => {
        const { db } = place.api.deps;
        const path = `${place.path.split('/').at(-1)}-two`;
        const id = newId();
        await db('library_folders').insert({
          id,
          library_id: place.libraryId,
          storage_id: place.api.given.storageId,
          path,
        });
        second = {
          id,
          put: (title, fixture) => place.put(`../${path}/${title}/${title}.mkv`, fixture),
          lose: (title) => rm(join(place.path, '..', path, title), { recursive: true }),
        };
        await second.put('K (2011)', 'h264-aac.mp4');
        await second.put('L (2012)', 'tiny.mp4');
        await second.put('M (2013)', 'vp9-opus.webm');
        await second.put('N (2014)', 'hevc-opengop.mkv');
      });

      const scanAll = async (): Promise<string> => {
        const { id } = (await start({ mode: 'full' })).body;
        await run(id);
        return id;
      };
      const loseBoth = async (): Promise<string> => {
        await place.put('C (2003)/C (2003).mkv', 'hevc-hlg.mp4');
        await scanAll();
        for (const title of ['A (2001)', 'B (2002)']) await rm(join(place.path, title), { recursive: true });
        for (const title of ['K (2011)', 'L (2012)']) await second.lose(title);
        return scanAll();
      };
      const missing = async (): Promise<string[]> =>
        (await place.files())
          .filter((file) => file.missing_since)
          .map((file) => file.path.split('/')[1] ?? '')
          .sort();
      const pending = async () =>
        (await admin.listScans({ query: { guard: 'pending', libraryId: place.libraryId } })).body.items;

      it('requires one decision for all, and carries it out in each', async () => {
        const id = await loseBoth();
        const [pendingScans, ...others] = await pending();
        expect([pendingScans?.id, others]).to.deep.equal([id, []]);
        expect(pendingScans?.guard).to.include({ wouldMiss: 4, ofTotal: 7 });
        expect(pendingScans?.guard?.folderIds).to.have.members([place.folderId, second.id]);
        await admin.decideScanRemovals({ params: { id }, body: { decision: 'apply' } });
        await scanAll();
        expect(await missing()).to.deep.equal(['A (2001)', 'B (2002)', 'K (2011)', 'L (2012)']);
        expect(await pending()).to.deep.equal([]);
      });

      it('still requires a decision on the folder whose files did not return', async () => {
        const id = await loseBoth();
        await place.put('A (2001)/A (2001).mkv');
        await place.put('B (2002)/B (2002).mkv', 'h264-base.mkv');
        await scanAll();
        const [pendingScans] = await pending();
        expect([pendingScans?.id, pendingScans?.guard?.folderIds, pendingScans?.guard?.wouldMiss]).to.deep.equal([
          id,
          [second.id],
          2,
        ]);
        expect(await missing()).to.deep.equal([]);
      });

      it('is withdrawn with the folders that it was about', async () => {
        const id = await loseBoth();
        const folders = [{ id: place.folderId }];
        const remove = async (confirmRemoval: boolean, kept: object[]) =>
          admin.updateLibrary({ params: { id: place.libraryId }, body: { folders: kept, confirmRemoval } });
        expect((await remove(true, folders)).status).to.equal(200);
        expect((await pending()).map((scan) => scan.id)).to.deep.equal([id]);
        expect((await remove(true, [])).status).to.equal(200);
        expect(await pending()).to.deep.equal([]);
      });

      it('goes over to the later scan with all its folders', async () => {
        const id = await loseBoth();
        await second.lose('M (2013)');
        const later = await scanAll();
        const [pendingScans, ...others] = await pending();
        expect([pendingScans?.id, others]).to.deep.equal([later, []]);
        expect(pendingScans?.guard).to.include({ wouldMiss: 5, ofTotal: 7 });
        expect(pendingScans?.guard?.folderIds).to.have.members([place.folderId, second.id]);
        const old = await admin.decideScanRemovals({ params: { id }, body: { decision: 'apply' } });
        expect(errorOf(old).details).to.deep.equal({ reason: 'superseded', scanId: later });
      });

      it('does not apply the decision to later losses', async () => {
        const id = await loseBoth();
        await admin.decideScanRemovals({ params: { id }, body: { decision: 'apply' } });
        await rm(join(place.path, 'C (2003)'), { recursive: true });
        await place.put('D (2004)/D (2004).mkv', 'hevc-hvc1.mp4');
        await place.api.deps
          .db('libraries')
          .where({ id: place.libraryId })
          .update({ settings: JSON.stringify({ guardMinimum: 1, guardPercent: 10 }) });
        await place.put('E (2005)/E (2005).mkv', 'h264-multi.mkv');
        await scanAll();
        expect(await missing()).to.deep.equal(['K (2011)', 'L (2012)']);
        expect((await pending()).map(({ guard }) => guard?.folderIds)).to.deep.equal([[place.folderId]]);
      });
    });

    it('points to the later scan that needs a larger decision, and requires library:manage', async () => {
      const id = await lose();
      await rm(join(place.path, 'C (2003)'), { recursive: true });
      await place.put('D (2004)/D (2004).mkv', 'h264-aac.mp4');
      const later = (await start({ mode: 'full' })).body.id;
      await run(later);
      const old = await admin.decideScanRemovals({ params: { id }, body: { decision: 'apply' } });
      expect([old.status, errorOf(old).details]).to.deep.equal([409, { reason: 'superseded', scanId: later }]);
      expect((await member.decideScanRemovals({ params: { id: later }, body: { decision: 'keep' } })).status).to.equal(
        403,
      );
    });
  });
});
