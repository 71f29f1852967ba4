import { copyFile, mkdir, open, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { newPlace, type Place, type StoredScan } from './support.ts';

/** The database statements and disk operations of a scan. */
interface Work {
  queries: number;
  /** Rows that were read or written. */
  rows: number;
  probed: number;
}

async function counted(place: Place, scan: () => Promise<StoredScan>): Promise<Work> {
  const { db } = place.api.deps;
  const work: Work = { queries: 0, rows: 0, probed: 0 };
  const count = (answer: { rowCount?: number } | undefined): void => {
    work.queries += 1;
    work.rows += answer?.rowCount ?? 0;
  };
  db.on('query-response', count);
  const { counts } = await scan();
  db.removeListener('query-response', count);
  return { ...work, probed: counts.probed ?? 0 };
}

/** Files of their own content each, as a scan of them costs the least: the numbers are of the scan. */
async function fill(place: Place, names: readonly string[]): Promise<void> {
  for (const [i, name] of names.entries()) {
    const path = join(place.path, name);
    await mkdir(dirname(path), { recursive: true });
    await copyFile(join(place.made, 'tiny.mkv'), path);
    const file = await open(path, 'a');
    await file.write(
      Buffer.from([0xec, 0x84, 1, ...Buffer.from(place.libraryId.slice(-2), 'hex'), i >> 8, i & 255]).subarray(0, 6),
    );
    await file.utimes(new Date(0), new Date(i * 2000));
    await file.close();
  }
  // A folder that changed in the last two seconds is compared again by the next scan, so the cost would depend on the machine.
  for (const folder of new Set(names.map((name) => dirname(join(place.path, name)))))
    await utimes(folder, 0, names.length);
  await utimes(place.path, 0, names.length);
}

const number = (i: number): string => String(i).padStart(5, '0');

const FOLDERS: Readonly<Record<string, { type: string; name: (i: number) => string }>> = {
  'films in one folder': { type: 'movies', name: (i) => `Film ${number(i)}x (${1950 + (i % 60)}).mkv` },
  'folders in one folder': {
    type: 'movies',
    name: (i) => `Film ${number(i)}x (2001)/Film ${number(i)}x (2001).mkv`,
  },
  'episodes in one folder': { type: 'shows', name: (i) => `Long Show/Long Show S01E${number(i + 1).slice(1)}.mkv` },
  'videos that no name describes': {
    type: 'shows',
    name: (i) => `Odd/of ${number(i).replaceAll(/\d/g, (d) => 'abcdefghij'[Number(d)] ?? '')}.mkv`,
  },
};

const SMALL = 300;
/** Twice as many may cost twice as much, plus the fixed cost. */
const LINEAR = 2.3;

describe('the cost of a scan', function () {
  this.timeout(180_000);

  for (const [what, { type, name }] of Object.entries(FOLDERS))
    it(`grows with the number of ${what}, and not faster`, async () => {
      const costs: Record<'first' | 'again' | 'one more', Work>[] = [];
      for (const count of [SMALL, SMALL * 2]) {
        const place = await newPlace(type, { guardMinimum: 100_000 });
        await fill(
          place,
          Array.from({ length: count }, (_, i) => name(i)),
        );
        const first = await counted(place, () => place.scan());
        const again = await counted(place, () => place.scan());
        await fill(place, [join(dirname(name(0)), 'Another (1998) S01E9999.mkv')]);
        const more = await counted(place, () => place.scan());
        costs.push({ first, again, 'one more': more });
      }
      const [small, large] = costs as [(typeof costs)[0], (typeof costs)[0]];
      for (const step of ['first', 'again', 'one more'] as const) {
        const summary = `${step}: ${JSON.stringify([small[step], large[step]])}`;
        expect(large[step].queries, summary).to.be.at.most(small[step].queries * LINEAR + 20);
        expect(large[step].rows, summary).to.be.at.most(small[step].rows * LINEAR + 500);
        expect(large[step].probed, summary).to.be.at.most(small[step].probed * 2);
      }
      // of the others of its directory a row is compared and nothing written
      const summary = `one more: ${JSON.stringify([small['one more'], large['one more']])}`;
      expect(large['one more'].queries, summary).to.be.at.most(small['one more'].queries + 5);
      expect(large['one more'].rows, summary).to.be.at.most(small['one more'].rows + SMALL + 50);
    });
});
