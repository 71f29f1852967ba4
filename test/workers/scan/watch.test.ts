import { execFile } from 'node:child_process';
import { watch, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { defaultSettings } from '#areas/libraries/public.ts';
import { eventually } from '#support/stores.ts';
import { type Changes, FolderWatcher, reportsChanges } from '#workers/scan/watch/folder-watcher.ts';
import { overseeScans } from '#workers/scan/watch/overseer.ts';
import { dueScan, type Scheduled } from '#workers/scan/watch/schedule.ts';
import { type TreeOptions, TreeWatcher } from '#workers/scan/watch/tree-watcher.ts';
import { newPlace } from './support.ts';

const settings = defaultSettings('movies', { language: 'en', country: null });
const library = (more: Partial<Scheduled>): Scheduled => ({
  id: 'x',
  settings,
  createdAt: new Date('2026-01-01T12:00:00Z'),
  lastScheduled: null,
  lastWhole: new Date('2026-01-01T12:00:00Z'),
  polled: false,
  ...more,
});

describe('dueScan', () => {
  it("follows the cron in the server's time zone, once each time", () => {
    const at = (time: string, more: Partial<Scheduled> = {}) => dueScan(library(more), new Date(time), 'Europe/Berlin');
    expect(at('2026-01-02T02:59:00Z')).to.equal(undefined);
    expect(at('2026-01-02T03:00:30Z')).to.deep.equal({ mode: 'full', trigger: 'schedule' });
    expect(at('2026-01-02T03:05:00Z', { lastScheduled: new Date('2026-01-02T03:00:31Z') })).to.equal(undefined);
    expect(at('2026-01-03T03:05:00Z', { lastScheduled: new Date('2026-01-02T03:00:31Z') })).to.deep.equal({
      mode: 'full',
      trigger: 'schedule',
    });
  });

  it('polls file systems that report no changes, and nothing when watching is off', () => {
    const now = new Date('2026-01-01T12:15:00Z');
    expect(dueScan(library({ polled: true }), now, 'UTC')).to.deep.equal({ mode: 'quick', trigger: 'watch' });
    expect(dueScan(library({ polled: false }), now, 'UTC')).to.equal(undefined);
    expect(dueScan(library({ polled: true, settings: { ...settings, pollMinutes: 16 } }), now, 'UTC')).to.equal(
      undefined,
    );
    expect(dueScan(library({ polled: true, settings: { ...settings, watch: 'off' } }), now, 'UTC')).to.equal(undefined);
    expect(
      dueScan(library({ settings: { ...settings, scanCron: 'nonsense' } }), new Date('2027-01-01'), 'UTC'),
    ).to.equal(undefined);
  });
});

describe('FolderWatcher', () => {
  it('reports the directories that changed, together and once', async () => {
    const path = await mkdtemp(join(tmpdir(), 'foyer-watch-'));
    await mkdir(join(path, 'A'));
    await mkdir(join(path, 'B'));
    await sleep(50); // changes while the watching begins are reported too
    const reported: Changes[] = [];
    const watcher = new FolderWatcher({
      path,
      debounceMs: 200,
      changed: (changes) => reported.push(changes),
      lost: () => undefined,
    });
    try {
      await sleep(100);
      await writeFile(join(path, 'A/one.mkv'), 'x');
      await writeFile(join(path, 'A/two.mkv'), 'x');
      await eventually(() => reported.length > 0);
      expect(reported).to.deep.equal([{ paths: ['A'], overflow: false }]);
      await rename(join(path, 'A/one.mkv'), join(path, 'B/one.mkv'));
      await eventually(() => reported.length > 1);
      expect(reported[1]?.paths.sort()).to.deep.equal(['A', 'B']);
      await mkdir(join(path, 'C'));
      await eventually(() => reported.length > 2);
      expect(reported[2]?.paths).to.deep.equal(['C']);
      await writeFile(join(path, 'C/three.mkv'), 'x');
      await eventually(() => reported.length > 3);
      expect(reported[3]?.paths).to.deep.equal(['C']);
      await rm(join(path, 'C'), { recursive: true });
      await eventually(() => reported.length > 4);
      expect(reported[4]?.paths).to.deep.equal(['']);
    } finally {
      watcher.close();
      await rm(path, { recursive: true });
    }
  });

  it('knows file systems that report no changes by others', async () => {
    expect(await reportsChanges({ id: 'a', path: tmpdir() })).to.equal(true);
    expect(await reportsChanges({ id: 'b', path: '/nowhere/at/all' })).to.equal(false);
  });
});

describe('TreeWatcher', () => {
  let root = '';
  let reported: string[] = [];
  let lost: Error[] = [];
  let watcher: TreeWatcher | undefined;

  const begin = async (more: Partial<TreeOptions> = {}): Promise<TreeWatcher> => {
    await sleep(50);
    watcher = new TreeWatcher({
      root,
      changed: (name) => reported.push(name),
      lost: (error) => lost.push(error),
      ...more,
    });
    return watcher;
  };
  const reports = async (name: string): Promise<void> => {
    await eventually(() => reported.includes(name));
    reported = [];
  };

  /** Repeatedly: a new directory is reported itself, its content from a moment later on. */
  const writing = (name: string): Promise<unknown> =>
    eventually(async () => {
      await writeFile(join(root, name), 'x');
      await sleep(20);
      return reported.includes(name);
    });

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'foyer-tree-'));
    await mkdir(join(root, 'A/in/deep'), { recursive: true });
    await mkdir(join(root, '.hidden/in'), { recursive: true });
    await Promise.all(Array.from({ length: 20 }, (_, n) => writeFile(join(root, 'A', `${n}.mkv`), 'x')));
    reported = [];
    lost = [];
  });
  afterEach(async () => {
    watcher?.close();
    await rm(root, { recursive: true, force: true });
  });

  it('takes a watch of the kernel for each directory, and none for a file or a hidden one', async () => {
    const tree = await begin();
    await eventually(() => tree.size === 4);
    await writeFile(join(root, 'A/in/deep/new.mkv'), 'x');
    await reports('A/in/deep/new.mkv');
    await writeFile(join(root, '.hidden/in/new.mkv'), 'x');
    await writeFile(join(root, 'A/0.mkv'), 'longer');
    await reports('A/0.mkv');
    expect(tree.size).to.equal(4);
  });

  it('follows directories that come, move, disappear and are created again', async () => {
    const tree = await begin();
    await eventually(() => tree.size === 4);
    await rename(join(root, 'A/in'), join(root, 'B'));
    await reports('B');
    await eventually(() => tree.size === 4);
    await writing('B/deep/new.mkv');
    await rm(join(root, 'B'), { recursive: true });
    await eventually(() => tree.size === 2);
    await mkdir(join(root, 'B/deep/er'), { recursive: true });
    await eventually(() => tree.size === 5);
    await writing('B/deep/er/new.mkv');
    expect(lost).to.deep.equal([]);
  });

  /** Directories down to a path of more than 4,096 bytes, which no single call can name. */
  const tooLong = async (): Promise<void> => {
    const levels = (count: number): string => Array.from({ length: count }, () => 'n'.repeat(250)).join('/');
    const run = promisify(execFile);
    await run('mkdir', ['-p', levels(15)], { cwd: join(root, 'A') });
    await run('mkdir', ['-p', levels(5)], { cwd: join(root, 'A', levels(15)) });
  };

  for (const when of ['before', 'while'] as const)
    it(`watches on around a path that is too long to be watched and came ${when} it watched`, async () => {
      if (when === 'before') await tooLong();
      const tree = await begin();
      await eventually(() => tree.size >= 4);
      if (when === 'while') await tooLong();
      await eventually(() => tree.size > 15);
      await writing('A/in/deep/new.mkv');
      expect(lost).to.deep.equal([]);
      await promisify(execFile)('rm', ['-r', join(root, 'A', 'n'.repeat(250))]);
    });

  it('reports changes from before it began', async () => {
    await begin();
    writeFileSync(join(root, 'A/in/deep/early.mkv'), 'x'); // in this turn: its directory is not watched yet
    await reports('A/in/deep');
  });

  it('reports that it is lost when the kernel has no more watches, and watches nothing from then on', async () => {
    let left = 2;
    const none = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const limited = ((path: string, options: object) => {
      left -= 1;
      if (left < 0) throw none;
      return watch(path, options);
    }) as typeof watch;
    const tree = await begin({ watch: limited });
    await eventually(() => lost.length > 0);
    expect([lost, tree.size]).to.deep.equal([[none], 0]);
  });
});

describe('overseeScans', function () {
  this.timeout(60_000);

  it('requests a scan of a directory that changed, in one worker at a time', async () => {
    const place = await newPlace('movies', { scanCron: '0 0 1 1 *' });
    await place.put('A (2001)/A (2001).mkv');
    await place.scan();
    const stop = new AbortController();
    const options = { lookMs: 200, debounceMs: 300 };
    const deps = place.work();
    const both = [overseeScans(deps, stop.signal, options), overseeScans(deps, stop.signal, options)];
    try {
      await sleep(1500);
      await place.put('B (2002)/B (2002).mkv');
      const { db } = place.api.deps;
      const queued = await eventually(() =>
        db('scans').where({ library_id: place.libraryId, state: 'queued' }).first(),
      );
      expect(queued).to.include({ trigger: 'watch' });
      expect(queued.targets).to.deep.equal([{ folderId: place.folderId, path: 'B (2002)' }]);
    } finally {
      stop.abort();
      await Promise.all(both);
    }
  });

  it('checks once for changes while no worker watched', async () => {
    const place = await newPlace('movies', { scanCron: '0 0 1 1 *' });
    await place.put('A (2001)/A (2001).mkv');
    await place.scan();
    const { db } = place.api.deps;
    await db('scans')
      .where({ library_id: place.libraryId })
      .update({ queued_at: new Date(Date.now() - 3_600_000) });
    const stop = new AbortController();
    const overseer = overseeScans(place.work(), stop.signal, { lookMs: 200 });
    try {
      const queued = await eventually(() =>
        db('scans').where({ library_id: place.libraryId, state: 'queued' }).first(),
      );
      expect(queued).to.include({ trigger: 'watch', mode: 'quick', targets: null });
      await sleep(1000);
      expect(await db('scans').where({ library_id: place.libraryId }).select('id')).to.have.length(2);
    } finally {
      stop.abort();
      await overseer;
    }
  });
});
