import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { WorkQueue } from '#operator/runtime/work-queue.ts';

describe('work queue', () => {
  it('gives a key once, however often it is added', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect([await queue.take(), await queue.take()]).to.deep.equal(['a', 'b']);
    const third = queue.take();
    queue.add('c');
    expect(await third).to.equal('c');
  });

  it('never gives a key that is being worked on, and gives it once more afterwards', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    expect(await queue.take()).to.equal('a');
    queue.add('a');
    queue.add('a');
    let taken = false;
    const again = queue.take().then((key) => {
      taken = true;
      return key;
    });
    await sleep(20);
    expect(taken).to.equal(false);
    queue.done('a');
    expect(await again).to.equal('a');
    queue.done('a');
    queue.add('b');
    expect(await queue.take()).to.equal('b');
  });

  it('comes back later with each fault, until one pass goes well', async () => {
    const queue = new WorkQueue(undefined, { firstMs: 4, mostMs: 64 });
    const parts: number[] = [];
    for (const middle of [4, 8, 16, 32, 64, 64]) {
      const pause = queue.retry('a');
      expect(pause).to.be.within(middle * 0.75, middle * 1.25);
      parts.push(pause / middle);
      await sleep(pause + 2);
    }
    expect(new Set(parts).size, 'spread, so that many that failed at one moment do not come back at one').to.equal(6);
    expect(queue.retry('a', { atMostMs: 8 })).to.be.below(11);
    expect(queue.retry('b', { atLeastMs: 60_000 })).to.equal(60_000);
    queue.forget('a');
    expect(queue.retry('a')).to.be.below(6);
    queue.close();
  });

  it('does not wait longer for the faults of passes that changes brought within the pause', () => {
    const queue = new WorkQueue(undefined, { firstMs: 1000, mostMs: 300_000 });
    const first = queue.retry('a');
    const pauses = Array.from({ length: 12 }, () => queue.retry('a'));
    expect(Math.max(...pauses)).to.be.at.most(first);
    queue.close();
  });

  it('brings a key back after its pause, or at once when it is added again', async () => {
    const queue = new WorkQueue(undefined, { firstMs: 20, mostMs: 40 });
    queue.retry('a');
    expect(await queue.take()).to.equal('a');
    queue.done('a');
    queue.addAfter('a', 60_000);
    queue.addAfter('a', 10);
    expect(await queue.take()).to.equal('a');
    queue.done('a');
    queue.addAfter('a', 60_000);
    queue.add('a');
    expect(await queue.take()).to.equal('a');
    queue.close();
  });

  it('lets everybody go when it is closed', async () => {
    const queue = new WorkQueue();
    const waiting = queue.take();
    queue.close();
    queue.add('a');
    expect([await waiting, await queue.take()]).to.deep.equal([undefined, undefined]);
  });
});
