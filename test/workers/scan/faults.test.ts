import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { requestScan } from '#areas/scanning/public.ts';
import { storesOf } from '#support/processes.ts';
import { eventually } from '#support/stores.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { newPlace, type Place, seen } from './support.ts';

describe('library.scan under faults', function () {
  this.timeout(120_000);

  it('continues from the last batch when its worker was stopped', async () => {
    const place = await newPlace('movies');
    for (let i = 0; i < 12; i += 1) await place.put(`F (20${10 + i})/F (20${10 + i}).mkv`, 'mpeg4-mp3.avi');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const stop = new AbortController();
    setTimeout(() => stop.abort('stopping'), 300);
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(stop.signal), { settleMs: 0 }).then(
      () => expect.fail('it ended'),
      () => undefined,
    );
    expect((await db('scans').where({ id }).first()).state).to.equal('running');
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    const row = await db('scans').where({ id }).first();
    expect(row).to.include({ state: 'completed', resumes: 1 });
    expect(await place.files()).to.have.length(12);
    expect((await db('libraries').where({ id: place.libraryId }).first()).item_counts).to.deep.equal({ movie: 12 });
  });

  it('counts the files that a lost worker had marked as missing', async () => {
    const place = await newPlace('movies');
    for (let i = 0; i < 3; i += 1) await place.put(`F (200${i})/F (200${i}).mkv`, 'mpeg4-mp3.avi');
    await place.scan();
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const [gone] = await place.files();
    await rm(join(place.api.mediaRoot, gone?.path ?? ''));
    const started = { state: 'running', started_at: new Date(Date.now() - 5000), counts: { missing: 1 } };
    await db('scans').where({ id }).update(started);
    await db('media_files').where({ id: gone?.id }).update({ missing_since: new Date() });
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    const row = await db('scans').where({ id }).first();
    expect(row).to.include({ state: 'completed', resumes: 1 });
    expect([row.counts.missing, row.folders[0].missing]).to.deep.equal([1, 1]);
  });

  it('ends within five seconds when it is cancelled, and marks nothing missing', async () => {
    const place = await newPlace('movies');
    for (let i = 0; i < 40; i += 1) await place.put(`F (20${10 + i})/F (20${10 + i}).avi`, 'mpeg4-mp3.avi');
    const { db } = place.api.deps;
    const began = Date.now();
    setTimeout(
      () => void db('scans').where({ library_id: place.libraryId }).update({ cancel_requested: true }).then(),
      300,
    );
    const scan = await place.scan();
    expect(scan.state).to.equal('cancelled');
    expect(Date.now() - began).to.be.lessThan(5000);
  });

  it('fails a scan that was resumed five times without progress', async () => {
    const place = await newPlace('movies');
    await place.put('A (2001)/A (2001).mkv');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    await db('scans').where({ id }).update({ state: 'running', stalls: 4, started_at: new Date() });
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    const row = await db('scans').where({ id }).first();
    expect(row.state).to.equal('failed');
    expect(row.error.reason).to.equal('stalled');
  });

  it('loses and doubles nothing when its process is killed, however often', async () => {
    const place = await newPlace('movies');
    const count = 60;
    for (let i = 0; i < count; i += 1) await place.put(`F (${1900 + i})/F (${1900 + i}).avi`, 'mpeg4-mp3.avi');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    for (let kills = 0; kills < 2; kills += 1) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'scan-child.ts'), place.libraryId, id], {
        env: { ...process.env, ...environmentOf(place) },
        stdio: 'ignore',
      });
      await eventually(
        async () => (await db('scans').where({ id, state: 'running', resumes: kills }).first()) !== undefined,
      );
      await sleep(700);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect((await db('scans').where({ id }).first()).state).to.equal('running');
    await scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    expect(await db('scans').where({ id }).first()).to.include({ state: 'completed', resumes: 2 });
    expect(await place.files()).to.have.length(count);
    expect((await place.items()).filter((item) => item.file_count === 1)).to.have.length(count);
    expect((await db('libraries').where({ id: place.libraryId }).first()).item_counts).to.deep.equal({ movie: count });
  });

  for (const error of ['ESTALE', 'EIO', 'EACCES', 'ENOENT']) {
    it(`loses nothing when directories answer ${error}`, async () => {
      const place = await newPlace('movies', { guardMinimum: 1000 });
      for (let i = 0; i < 8; i += 1) await place.put(`F (${1900 + i})/F (${1900 + i}).mkv`);
      await place.scan();
      const { id } = await requestScan(place.api.deps.db, {
        libraryId: place.libraryId,
        mode: 'full',
        trigger: 'person',
      });
      const paths = ['F (1902)', 'F (1905)'].flatMap((name) => ['-P', join(place.path, name)]);
      const inject = ['-f', '-qq', '-o', '/dev/null', ...paths, '-e', `inject=openat,getdents64,statx:error=${error}`];
      const child = spawn(
        'strace',
        [...inject, process.execPath, join(import.meta.dirname, 'scan-child.ts'), place.libraryId, id],
        { env: { ...process.env, ...environmentOf(place) }, stdio: 'ignore' },
      );
      await once(child, 'exit');
      const scan = await seen(place.api, id);
      expect(scan.state).to.equal('completed');
      // A directory that its parent lists and that is then missing decides nothing either: the next listing does.
      expect(scan.folders[0]).to.include(error === 'ENOENT' ? { state: 'listed' } : { state: 'interrupted' });
      expect(scan.issues.map((issue) => issue.kind)).to.deep.equal(
        error === 'ENOENT' ? [] : ['unreadable', 'unreadable'],
      );
      expect((await place.files()).filter((file) => file.missing_since)).to.deep.equal([]);
    });
  }

  for (const [what, calls] of [
    ['is listed', 'openat,statx:error=EIO:when=2+'],
    ['is read', 'pread64:error=EIO'],
  ] as const)
    it(`reports a mount that is lost while it ${what} as one issue`, async () => {
      const place = await newPlace('movies');
      await place.put('A (2001)/A (2001).mkv');
      await place.scan();
      const names = Array.from({ length: 25 }, (_, i) => `Box/F (${1900 + i})`);
      for (const name of names) await place.put(`${name}/${name.slice(4)}.mkv`);
      const { id } = await requestScan(place.api.deps.db, {
        libraryId: place.libraryId,
        mode: 'full',
        trigger: 'person',
      });
      const lost = names.flatMap((name) => [name, `${name}/${name.slice(4)}.mkv`]);
      const paths = ['Box', ...lost].flatMap((name) => ['-P', join(place.path, name)]);
      const inject = ['-f', '-qq', '-o', '/dev/null', ...paths, '-e', `inject=${calls}`];
      const child = spawn(
        'strace',
        [...inject, process.execPath, join(import.meta.dirname, 'scan-child.ts'), place.libraryId, id],
        { env: { ...process.env, ...environmentOf(place) }, stdio: 'ignore' },
      );
      await once(child, 'exit');
      const scan = await seen(place.api, id);
      expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').at(-1)])).to.deep.equal([
        ['unreadable', 'Box'],
      ]);
      expect((await place.files()).filter((file) => file.missing_since)).to.deep.equal([]);
      expect((await place.scan()).counts).to.include({ added: 25 });
    });

  it('writes nothing more once another worker has the scan', async () => {
    const place = await newPlace('movies');
    for (let i = 0; i < 20; i += 1) await place.put(`F (${1900 + i})/F (${1900 + i}).avi`, 'mpeg4-mp3.avi');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const first = scanLibrary({ libraryId: place.libraryId, scanId: id }, place.work(), { settleMs: 0 });
    await eventually(async () => (await db('scans').where({ id, state: 'running' }).first()) !== undefined);
    await db('scans').where({ id }).update({ lease_holder: 'another' });
    await first;
    expect(await place.files()).to.deep.equal([]);
    expect((await db('scans').where({ id }).first()).state).to.equal('running');
  });
});

function environmentOf(place: Place): Record<string, string> {
  const { config } = place.api;
  return {
    ...storesOf(config),
    FOYER_MEDIA_ROOTS: JSON.stringify(config.mediaRoots),
  };
}
