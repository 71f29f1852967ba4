import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Blocks, firstBlock, type Index, marksFor, type Wanted } from '../../../../web/src/core/geometry/blocks.ts';
import { everything, holds, NOTHING, set, sizeOf, toggled } from '../../../../web/src/core/geometry/selection.ts';

interface Item {
  id: string;
  mark?: boolean;
}

/** A list of `total` items whose cursors are the index that they lead to. */
function list(total: number, index: Partial<Index> = {}, waitMs = 0) {
  const requests: Wanted[] = [];
  let running = 0;
  let most = 0;
  const source = {
    async load(wanted: Wanted) {
      requests.push(wanted);
      running += 1;
      most = Math.max(most, running);
      await sleep(waitMs, undefined, { signal: wanted.signal }).finally(() => {
        running -= 1;
      });
      const from = Number(wanted.cursor ?? 0);
      const to = Math.min(total, from + wanted.limit);
      const items: Item[] = Array.from({ length: to - from }, (_, at) => ({ id: `item ${from + at}` }));
      return { items, cursor: to < total ? String(to) : null };
    },
    changed() {},
  };
  return { blocks: new Blocks<Item>(source, { total, ...index }), requests, most: () => most };
}

const marksOf = (total: number, every: number): Index => ({
  total,
  every,
  marks: Array.from({ length: Math.ceil(total / every) }, (_, at) => String(at * every)),
});

const idle = async (): Promise<void> => {
  for (let at = 0; at < 60; at++) await sleep(2);
};

describe('blocks of a long list', () => {
  it('read a range across places that are not loaded, in order', async () => {
    const { blocks } = list(1_000, marksOf(1_000, 200));
    blocks.want(0, 1);
    await idle();
    const items = await blocks.read(150, 851, new AbortController().signal);
    expect(items.map(({ id }) => id)).to.deep.equal(Array.from({ length: 701 }, (_, at) => `item ${150 + at}`));
  });

  it('reach every place by one request behind a mark, with the items of that place', async () => {
    for (const [total, every] of [
      [20_000, 200],
      [1_234, 177],
      [199, 199],
    ] as const) {
      const { blocks, requests } = list(total, marksOf(total, every));
      blocks.want(total - 1, total);
      await idle();
      expect(requests.length, `${total}`).to.equal(1);
      expect(blocks.get(total - 1)?.id).to.equal(`item ${total - 1}`);
      expect(blocks.get(total)).to.equal(undefined);
      blocks.want(0, Math.min(total, 900));
      await idle();
      for (let at = 0; at < Math.min(total, 900); at++) expect(blocks.get(at)?.id).to.equal(`item ${at}`);
    }
  });

  it('are about a page where marks are nearer', async () => {
    const { blocks, requests } = list(700, marksOf(700, 7));
    blocks.want(300, 320);
    await idle();
    expect(requests.map(({ cursor, limit }) => [cursor, limit])).to.deep.equal([['196', 196]]);
    expect(blocks.get(310)?.id).to.equal('item 310');
  });

  it('hold several pages behind one mark where marks are more than a page apart', async () => {
    const { blocks, requests } = list(5000, marksOf(5000, 450));
    blocks.want(1000, 1300);
    await idle();
    for (let at = 1000; at < 1300; at++) expect(blocks.get(at)?.id).to.equal(`item ${at}`);
    expect(Math.max(...requests.map(({ limit }) => limit))).to.be.at.most(200);
  });

  it('reach a place without marks from the nearest bucket', async () => {
    const buckets = [
      { offset: 0, cursor: null },
      { offset: 730, cursor: '730' },
    ];
    const { blocks, requests } = list(1000, { buckets });
    blocks.want(850, 860);
    await idle();
    expect(blocks.get(855)?.id).to.equal('item 855');
    expect(requests.map(({ cursor }) => cursor)).to.deep.equal(['730', '800']);
  });

  it('send at most three requests at once, and abort those of places that are not visible any more', async () => {
    const { blocks, requests, most } = list(20_000, marksOf(20_000, 200), 20);
    blocks.want(0, 2000);
    await sleep(5);
    expect(requests.length).to.equal(3);
    blocks.want(10_000, 10_100);
    await idle();
    expect(requests.slice(0, 3).every(({ signal }) => signal.aborted)).to.equal(true);
    expect(blocks.get(10_050)?.id).to.equal('item 10050');
    expect(blocks.get(0)).to.equal(undefined);
    expect(most()).to.be.at.most(3);
  });

  it('keep 40 blocks and load dropped ones again', async () => {
    const { blocks, requests } = list(20_000, marksOf(20_000, 200));
    for (let at = 0; at < 60; at++) {
      blocks.want(at * 200, at * 200 + 10);
      await sleep(4);
    }
    expect([...blocks.known()].length).to.equal(40 * 200);
    expect(blocks.get(0)).to.equal(undefined);
    const before = requests.length;
    blocks.want(0, 10);
    await idle();
    expect(requests.length).to.equal(before + 1);
    expect(blocks.get(0)?.id).to.equal('item 0');
  });

  it('change items in memory where they are', async () => {
    const { blocks } = list(400, marksOf(400, 200));
    blocks.want(0, 400);
    await idle();
    blocks.patch((item) => (item.id === 'item 250' ? { ...item, mark: true } : item));
    expect(blocks.get(250)?.mark).to.equal(true);
    expect(blocks.get(251)?.mark).to.equal(undefined);
  });

  it('have marks of one page each, at most 2,000', () => {
    expect([marksFor(0), marksFor(200), marksFor(201), marksFor(400_000)]).to.deep.equal([0, 1, 2, 2000]);
    expect(marksFor(500_000)).to.be.within(1900, 2000);
  });

  it('reach the end of a list with sparse marks by one request', async () => {
    for (const total of [400_001, 500_000, 523_457, 777_777, 1_000_000, 3_000_000]) {
      const every = Math.ceil(total / marksFor(total));
      const { blocks, requests } = list(total, marksOf(total, every));
      blocks.want(total - 100, total);
      await idle();
      expect(requests.length, `${total}`).to.equal(1);
      expect(blocks.get(total - 1)?.id).to.equal(`item ${total - 1}`);
      expect(blocks.get(total - 100)?.id, `${total}`).to.equal(`item ${total - 100}`);
    }
  });
});

describe('the first block', () => {
  it('has a known size before the index is there', async () => {
    for (const total of [1, 199, 200, 201, 950, 40_001, 400_001, 523_457, 1_000_000])
      for (const marks of [marksFor(total), 0]) {
        const { blocks, requests } = list(total, marks ? marksOf(total, Math.ceil(total / marks)) : {});
        blocks.want(0, 1);
        await idle();
        expect(
          requests.map(({ limit }) => limit),
          `${total} items, ${marks} marks`,
        ).to.deep.equal([firstBlock(total, marks)]);
      }
  });
});

describe('a selection', () => {
  it('holds items by id, or all that match but some', () => {
    const two = set(NOTHING, ['a', 'b'], true);
    expect([sizeOf(two), holds(two, 'a'), holds(two, 'c')]).to.deep.equal([2, true, false]);
    expect(sizeOf(toggled(two, 'a'))).to.equal(1);
    const all = toggled(everything(500), 'x');
    expect([sizeOf(all), holds(all, 'x'), holds(all, 'y')]).to.deep.equal([499, false, true]);
    expect(sizeOf(set(all, ['x'], true))).to.equal(500);
  });
});
