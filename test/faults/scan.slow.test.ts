// A library of some thousand films while its scanning processes are killed, and while its folder disappears and
// returns.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { TestClient } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine, print } from './machine.ts';

type Scan = Awaited<ReturnType<TestClient['getScan']>>['body'];

const FILMS = 1400;
/** Files of one transaction that had to be read (workers/scan/engine/batch.ts). */
const BATCH = 64;
const OLD = new Date('2020-01-01T00:00:00Z');
const FIRST =
  'amber bitter copper distant electric frozen golden hollow iron jade kind lunar misty northern olive'.split(' ');
const SECOND =
  'apple basin canyon delta ember forest garden harbour island jungle kettle lantern meadow needle orchard'.split(' ');
const THIRD =
  'anchor bridge castle dagger engine feather glacier hunter insect journal keeper ladder mirror notebook'.split(' ');

const wordOf = (list: readonly string[], n: number): string => {
  const word = list[n % list.length] ?? '';
  return word.charAt(0).toUpperCase() + word.slice(1);
};
/** No two are alike, and none is a version of another. */
const titleOf = (n: number): string => {
  const [b, c] = [Math.floor(n / FIRST.length), Math.floor(n / (FIRST.length * SECOND.length))];
  return [wordOf(FIRST, n), wordOf(SECOND, b), wordOf(THIRD, c)].join(' ');
};
const TITLES = Array.from({ length: FILMS }, (_, n) => titleOf(n));

/** The film with an EBML void element behind it that no other has, so that none looks moved. */
function filmOf(tiny: Buffer, n: number): Buffer {
  const mark = Buffer.alloc(10);
  mark.set([0xec, 0x88]);
  mark.writeBigUInt64BE(BigInt(n), 2);
  return Buffer.concat([tiny, mark]);
}

describe('scanning through faults', function () {
  this.timeout(240_000);
  const machine = new Machine();
  let tiny: Buffer;
  let library = '';
  let ids = new Map<string, string>();
  let tinyMs = 0;

  const place = (title: string, bytes: Buffer): string => {
    const folder = join(machine.films, `${title} (1999)`);
    mkdirSync(folder);
    const file = join(folder, `${title} (1999).mkv`);
    writeFileSync(file, bytes);
    return file;
  };

  before(async () => {
    tiny = readFileSync(join((await fixtures()).made, 'tiny.mkv'));
    for (const [n, title] of TITLES.entries()) utimesSync(place(title, filmOf(tiny, n)), OLD, OLD);
    await machine.start();
  });
  after(async () => machine.stop());

  const lastScan = async (): Promise<Scan | undefined> => {
    const { body } = await machine.owner.listScans({ query: { libraryId: library, limit: 1 } });
    return body.items?.[0];
  };
  const scanned = async (id: string): Promise<Scan> =>
    eventually(async () => {
      const { body, status } = await machine.owner.getScan({ params: { id } });
      if (status === 200) expect(body.state).to.not.be.oneOf(['failed', 'cancelled']);
      return status === 200 && body.state === 'completed' && body;
    }, 120_000);
  const startScan = async (mode: string): Promise<string> => {
    const { status, body } = await machine.owner.startScan({ params: { id: library }, body: { mode } });
    expect(status).to.equal(202);
    return body.id;
  };

  /** Titles to item ids, over every page; none comes twice. */
  const listed = async (unavailable = false): Promise<Map<string, string>> => {
    const found = new Map<string, string>();
    let cursor: string | undefined;
    for (let page = 0; page < 60; page += 1) {
      const query = { limit: 100, sort: 'title', ...(cursor === undefined ? {} : { cursor }) };
      const { body } = await machine.owner.listLibraryItems({ params: { id: library }, query });
      for (const { title, id, ...item } of body.items) {
        const availability = 'availability' in item ? item.availability : undefined;
        expect(found.has(title), `${title} twice`).to.equal(false);
        expect(availability, title).to.be.oneOf(unavailable ? [undefined, 'unavailable'] : [undefined]);
        found.set(title, id);
      }
      cursor = body.page.cursor ?? undefined;
      if (cursor === undefined) return found;
    }
    throw new Error('no end of pages');
  };

  const expectNoTrash = async (): Promise<void> => {
    const { status, body } = await machine.owner.listTrash({ params: { id: library } });
    expect(status).to.equal(200);
    expect(body.items).to.deep.equal([]);
  };

  const expectAll = async (): Promise<Map<string, string>> => {
    const now = await listed();
    expect([...now.keys()]).to.have.members(TITLES);
    const { body } = await machine.owner.getLibrary({ params: { id: library } });
    expect(body.itemCounts).to.deep.equal({ movie: FILMS });
    await expectNoTrash();
    return now;
  };

  it('adds each film once, whichever process is killed meanwhile', async () => {
    library = await machine.addLibrary();
    const began = Date.now();
    const { id } = await eventually(lastScan, 30_000);
    const kills: [number, string][] = [
      [150, 'worker-1'],
      [400, 'postgres'],
      [650, 'worker-1'],
      [900, 'redis'],
    ];
    for (const [from, name] of kills) {
      const at = await eventually(async () => {
        const { body, status } = await machine.owner.getScan({ params: { id } });
        if (status !== 200) return false;
        expect(body.state, `before ${name}`).to.be.oneOf(['queued', 'running']);
        return body.counts.done >= from && body.counts.done;
      }, 120_000);
      const healed = await machine.strike(name);
      print(`${name} after ${at} files: healed ${healed} ms`);
    }
    const scan = await scanned(id);
    print(`${FILMS} films in ${Date.now() - began} ms: ${JSON.stringify(scan.counts)}, resumed ${scan.resumes} times`);
    expect(scan.counts).to.include({ found: FILMS, total: FILMS, done: FILMS, added: FILMS, missing: 0, moved: 0 });
    expect(scan.counts.probed).to.be.within(FILMS, FILMS + kills.length * BATCH);
    expect(scan.resumes).to.be.at.least(2);
    expect(scan.issueCount).to.equal(0);
    ids = await expectAll();
    const one = await machine.owner.getItem({ params: { id: ids.get(TITLES[0] ?? '') ?? '' } });
    tinyMs = one.body.runtimeMs ?? 0;
  });

  /** The scan reports that the folder was unavailable, and leaves everything as it is. */
  const expectLeftAlone = async (scan: Scan, reasons: string[]): Promise<void> => {
    print(`${JSON.stringify(scan.folders)} ${JSON.stringify(scan.counts)}`);
    expect(scan.counts).to.include({ missing: 0, moved: 0, added: 0 });
    expect(scan.folders[0]?.reason).to.be.oneOf(reasons);
    expect(await listed(true)).to.deep.equal(ids);
    await expectNoTrash();
  };
  const expectBack = async (): Promise<void> => {
    const back = async () => (await machine.owner.getLibrary({ params: { id: library } })).body.folders[0]?.state;
    await eventually(async () => (await back()) === 'available', 60_000);
    const scan = await scanned(await startScan('full'));
    expect(scan.counts).to.include({ missing: 0, moved: 0, added: 0, found: FILMS });
    expect(await expectAll()).to.deep.equal(ids);
  };
  const aside = join(machine.folder, 'aside');
  afterEach(() => {
    if (existsSync(aside)) renameSync(aside, existsSync(machine.media) ? machine.films : machine.media);
  });

  it('misses nothing while the storage is unavailable', async () => {
    renameSync(machine.media, aside);
    await expectLeftAlone(await scanned(await startScan('full')), ['storage-unavailable', 'storage-suspect']);
    renameSync(aside, machine.media);
    await expectBack();
  });

  it('misses nothing while an empty folder lies in its place', async () => {
    renameSync(machine.films, aside);
    mkdirSync(machine.films);
    const reasons = ['empty-root', 'storage-unavailable', 'storage-suspect'];
    await expectLeftAlone(await scanned(await startScan('full')), reasons);
    rmdirSync(machine.films);
    renameSync(aside, machine.films);
    await expectBack();
  });

  it('misses nothing when the storage becomes unavailable in the middle of a scan', async () => {
    const id = await startScan('deep');
    await eventually(async () => {
      const { counts, state } = (await machine.owner.getScan({ params: { id } })).body;
      expect(state).to.be.oneOf(['queued', 'running']);
      return counts.done >= 500;
    }, 60_000);
    renameSync(machine.media, aside);
    await expectLeftAlone(await scanned(id), ['storage-unavailable', 'storage-suspect', 'epoch-changed']);
    renameSync(aside, machine.media);
    await expectBack();
  });

  it('adds a film that is still being copied right after it is whole', async () => {
    const title = 'Zulu Zebra';
    const parts = 24;
    const size = Math.ceil(tiny.length / parts);
    const file = place(title, tiny.subarray(0, size));
    const id = await startScan('deep');
    for (let n = 1; n < parts; n += 1) {
      await sleep(500);
      appendFileSync(file, tiny.subarray(n * size, (n + 1) * size));
    }
    const whole = Date.now();
    expect(readFileSync(file).equals(tiny)).to.equal(true);
    await scanned(id);
    const film = await eventually(async () => {
      const query = { filter: `title:eq:${title}`, limit: 5 };
      const { body } = await machine.owner.listLibraryItems({ params: { id: library }, query });
      return body.items?.[0];
    }, 90_000);
    const runtimeMs = async () => (await machine.owner.getItem({ params: { id: film.id } })).body.runtimeMs;
    await eventually(async () => (await runtimeMs()) === tinyMs, 60_000);
    print(`there ${Date.now() - whole} ms after its last byte`);
    const now = await listed();
    expect(now.size).to.equal(FILMS + 1);
    expect(new Map([...now].filter(([one]) => one !== title))).to.deep.equal(ids);
  });
});
