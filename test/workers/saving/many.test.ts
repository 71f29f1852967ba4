import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { SavedFiles } from '#workers/scan/store/saved-files.ts';
import type { WalkedDirectory } from '#workers/scan/walk/types.ts';

const AT_MS = 1_700_000_000_000;

describe('a large folder of photos with files of Foyer', function () {
  this.timeout(120_000);
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  interface Cost {
    cpuMs: number;
    /** The longest time without other work. */
    heldMs: number;
    left: number;
  }

  /** The least of three runs: a collection of garbage or other work of the machine only adds to one. */
  async function least(count: number): Promise<Cost> {
    const all: Cost[] = [];
    for (let run = 0; run < 3; run += 1) all.push(await leftOut(count, run));
    return all.reduce((a, b) => (b.cpuMs < a.cpuMs ? b : a));
  }

  /** Leaves own files out of a folder of so many photos. */
  async function leftOut(count: number, run: number): Promise<Cost> {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'photos', { everyone: true });
    const storageId = api.given.storageId;
    const path = `many-${count}-${run}`;
    await db.raw(
      `insert into saved_files (storage_id, directory, name, sha256, library_id, size_bytes, modified_ms)
       select ?, ?, n || '.jpg.xmp', 'x' || n, ?, 400, ?::bigint + n * 10 from generate_series(1, ?) n`,
      [storageId, path, library.id, AT_MS, count],
    );
    const files = Array.from({ length: 2 * count }, (_, i) => {
      const n = Math.floor(i / 2) + 1;
      const own = i % 2 === 1;
      return {
        name: own ? `${n}.jpg.xmp` : `${n}.jpg`,
        size: own ? 400 : 9000,
        mtimeMs: own ? AT_MS + n * 10 : n,
        inode: String(i),
      };
    });
    const directory = { path, files, media: 0, signature: '' } as unknown as WalkedDirectory;
    const saved = new SavedFiles(db, {
      ...{ id: library.id, type: 'photos', version: '1' },
      storageIds: [storageId],
      saves: true,
    });
    let heldMs = 0;
    let last = performance.now();
    const clock = setInterval(() => {
      heldMs = Math.max(heldMs, performance.now() - last);
      last = performance.now();
    }, 1);
    const before = process.cpuUsage();
    await saved.leaveOut(storageId, [directory]);
    const { user, system } = process.cpuUsage(before);
    clearInterval(clock);
    return { cpuMs: (user + system) / 1000, heldMs, left: directory.files.length };
  }

  it('costs four times as much for four times as many, and lets other work run', async () => {
    await leftOut(1000, 0);
    const few = await least(5000);
    const many = await least(20_000);
    expect([few.left, many.left]).to.deep.equal([5000, 20_000]);
    expect(many.cpuMs / few.cpuMs, JSON.stringify({ few, many })).to.be.below(8);
  });
});
