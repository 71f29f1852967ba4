import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '#support/stores.ts';
import type { KnownDirectory, WalkBatch, WalkOrder } from '#workers/scan/walk/types.ts';
import { Walk } from '#workers/scan/walk/walk.ts';
import { walkFolder } from '#workers/scan/walk/walker.ts';

const FILMS = 300;

describe('the walk of a folder', () => {
  const root = temporaryFolder('walk');
  before(() => {
    for (let i = 0; i < FILMS; i += 1) film(`Film ${i} (2001)`);
    writeFileSync(join(root, 'films/Loose (2002).mkv'), 'x');
    film('Film 7 (2001)/Extras/deep');
  });
  function film(name: string): void {
    mkdirSync(join(root, 'films', name), { recursive: true });
    writeFileSync(join(root, 'films', name, 'film.mkv'), name);
  }

  const order = (more: Partial<WalkOrder> = {}): WalkOrder => ({
    ...{ root, folder: 'films', from: ['films'], ignore: [], version: '1' },
    ...more,
  });
  const all = (walk: Walk): WalkBatch[] => {
    const batches = [walk.next()];
    while (!batches.at(-1)?.done) batches.push(walk.next());
    return batches;
  };
  const pathsOf = (batches: readonly WalkBatch[]): string[] =>
    batches.flatMap(({ directories }) => directories.map(({ path }) => path));
  const whole = (): string[] => pathsOf(all(new Walk(order()))).toSorted();

  it('shared by two is each directory once, the folder itself by the first', () => {
    const [first, second] = [0, 1].map((index) => pathsOf(all(new Walk(order({ share: { of: 2, index } })))));
    expect(first?.[0]).to.equal('films');
    expect([...(first ?? []), ...(second ?? [])].toSorted()).to.deep.equal(whole());
    expect(second?.length).to.be.within(FILMS / 4, (FILMS * 3) / 4);
  });

  it('shared by two misses nothing of what stays when something goes between their looks', () => {
    const paths = pathsOf(all(new Walk(order({ share: { of: 2, index: 0 } }))));
    renameSync(join(root, 'films/Film 100 (2001)'), join(root, 'away'));
    paths.push(...pathsOf(all(new Walk(order({ share: { of: 2, index: 1 } })))));
    const there = whole();
    renameSync(join(root, 'away'), join(root, 'films/Film 100 (2001)'));
    expect(there.filter((path) => !paths.includes(path))).to.deep.equal([]);
  });

  it('in threads begins with the folder and hands over what changed, once', async () => {
    const known = new Map<string, KnownDirectory>();
    for (const { directories } of all(new Walk(order())))
      for (const { path, modifiedMs, videos, content } of directories)
        known.set(path, { modifiedMs, videos, faults: 0, content });
    const walked = async (more: Partial<WalkOrder>): Promise<WalkBatch[]> => {
      const batches: WalkBatch[] = [];
      for await (const batch of walkFolder(order({ known, ...more }), new AbortController().signal))
        batches.push(batch);
      return batches;
    };
    const still = await walked({});
    expect(still.reduce((sum, { same }) => sum + same.directories, 0)).to.equal(known.size);
    expect(still.map(({ done }) => done).lastIndexOf(false)).to.equal(still.length - 2);

    const anew = await walked({ version: '2' });
    expect(pathsOf(anew)[0]).to.equal('films');
    expect(pathsOf(anew).toSorted()).to.deep.equal([...known.keys()].toSorted());

    film('Film 3 (2001)/New');
    expect(pathsOf(await walked({ quick: true })).toSorted()).to.deep.equal([
      'films/Film 3 (2001)',
      'films/Film 3 (2001)/New',
    ]);
  });
});
