import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packRows } from '#platform/spine/delta.ts';
import { PackRefused, readHead, trustedKeysOf } from '#platform/spine/manifest.ts';
import { openPack, type Ranges } from '#platform/spine/pack.ts';
import { sortRows } from '#platform/spine/sort-rows.ts';
import { rowKey } from '#platform/spine/work.ts';
import { temporaryFolder } from '#support/stores.ts';

const foyer = new URL('../../../api/spine.ts', import.meta.url).pathname;
const film = (n: number, more: object = {}) => ({
  kind: 'movie',
  ids: { wikidata: `Q${n}` },
  title: `Film ${n}`,
  ...more,
});
const ranges =
  (bytes: Buffer): Ranges =>
  async (start, end) =>
    bytes.subarray(start, end);

describe('packs of works', () => {
  let folder: string;
  let trusted: string;
  before(() => {
    folder = temporaryFolder('spine');
    trusted = run('key', join(folder, 'key.pem')).trim();
  });
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [foyer, 'spine', ...args], { encoding: 'utf8' });
  const build = (works: readonly object[], name: string, ...more: string[]): Buffer => {
    const input = join(folder, `${name}.jsonl`);
    const output = join(folder, `${name}.foyerspine`);
    writeFileSync(input, works.map((work) => JSON.stringify(work)).join('\n'));
    const own = ['--name', 'films', '--pack-version', '2026.11.1', '--key', join(folder, 'key.pem')];
    run('build', input, '-o', output, ...own, '--built-at', '2026-11-24T00:00:00Z', ...more);
    return readFileSync(output);
  };
  const rowsOf = async (pack: Buffer) => {
    const read = ranges(pack);
    return Array.fromAsync(packRows(read, await openPack(read, trustedKeysOf([trusted]))));
  };
  const reasonOf = async (pack: Buffer, keys = [trusted]): Promise<string> => {
    try {
      const read = ranges(pack);
      await Array.fromAsync(packRows(read, await openPack(read, trustedKeysOf(keys))));
      return 'read';
    } catch (error) {
      if (error instanceof PackRefused) return error.reason;
      throw error;
    }
  };

  it('are equal bytes for equal works in any order, and give them back sorted', async () => {
    const works = Array.from({ length: 3000 }, (_, n) => film(n, { aliases: [{ title: `Película ${n}` }] }));
    const pack = build(works, 'one');
    expect(build(works.toReversed(), 'two').equals(pack)).to.equal(true);
    const keys = (await rowsOf(pack)).map(rowKey);
    expect(keys).to.have.length(3000);
    expect(keys).to.deep.equal(keys.toSorted());
  });

  it('hold in a delta changed and withdrawn works', async () => {
    build([film(1), film(2), film(3)], 'old');
    const delta = build([film(1), film(3, { year: 1922 }), film(4)], 'new', '--since', join(folder, 'old.foyerspine'));
    const rows = await rowsOf(delta);
    expect(rows.map((row) => ('gone' in row ? row.gone : `${row.title} ${row.year ?? ''}`))).to.deep.equal([
      'movie/wikidata:Q2',
      'Film 3 1922',
      'Film 4 ',
    ]);
  });

  it('are refused when a byte changed anywhere, when cut, and when no trusted key signed them', async () => {
    const pack = build([film(1), film(2)], 'whole');
    expect(await reasonOf(pack)).to.equal('read');
    const head = readHead(pack, trustedKeysOf([trusted])).length;
    for (const at of [30, head - 70, head - 1, head, pack.length - 1]) {
      const other = Buffer.from(pack);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(await reasonOf(other), `byte ${at}`).to.not.equal('read');
    }
    for (const length of [0, 10, head - 1, pack.length - 1])
      expect(await reasonOf(pack.subarray(0, length)), `cut at ${length}`).to.not.equal('read');
    expect(await reasonOf(pack, [])).to.equal('not-trusted');
    expect(await reasonOf(pack, [Buffer.alloc(32, 7).toString('base64')])).to.equal('not-trusted');
    const newer = Buffer.from(pack);
    newer.writeUInt16LE(2, 8);
    expect(await reasonOf(newer)).to.equal('format-newer');
  });

  it('refuse rows that are no works', () => {
    for (const row of [
      {},
      film(1, { title: 'a\u0007b' }),
      film(1, { extra: 1 }),
      film(1, { ids: {} }),
      { gone: 'x' },
    ]) {
      const input = join(folder, 'bad.jsonl');
      writeFileSync(input, JSON.stringify(row));
      const own = ['--name', 'films', '--pack-version', '2026.11.1', '--key', join(folder, 'key.pem')];
      const done = spawnSync(process.execPath, [foyer, 'spine', 'build', input, '-o', join(folder, 'bad'), ...own]);
      expect(done.status, JSON.stringify(row)).to.not.equal(0);
    }
  });

  it('sort more rows than fit into memory; the later of two with one key counts', async () => {
    async function* lines(): AsyncGenerator<string> {
      for (const n of [5, 3, 1, 4, 2]) yield JSON.stringify(film(n));
      yield JSON.stringify(film(3, { year: 1950 }));
    }
    const works = await Array.fromAsync(sortRows(lines(), { folder, most: 2 }));
    expect(works.map(({ title, year }) => `${title} ${year ?? ''}`.trim())).to.deep.equal([
      'Film 1',
      'Film 2',
      'Film 3 1950',
      'Film 4',
      'Film 5',
    ]);
  });
});
