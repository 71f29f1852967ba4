import { expect } from 'chai';
import { Outbox } from '../../../../web/src/core/player/outbox.ts';
import { Waiting } from '../../../../web/src/core/player/waiting.ts';

const EVERY_MS = 20;

describe('the sender of positions that wait', () => {
  let kept: Map<string, string>;
  let outbox: Outbox;
  let clock: number;
  let isReached: boolean;
  let calls: string[][];
  let waiting: Waiting;

  const start = (profileId = 'ana'): void => {
    waiting = new Waiting({
      profileId,
      outbox,
      everyMs: EVERY_MS,
      now: () => clock,
      send: async ({ reports = [] }) => {
        calls.push(reports.map(({ itemId }) => itemId));
        await new Promise((done) => setTimeout(done, 2));
        if (!isReached) throw new Error('offline');
      },
    });
  };
  const keep = (itemId: string, profileId = 'ana'): void =>
    outbox.keep({ profileId, itemId, fileId: 'file', positionMs: 70_000, at: clock });
  const passed = (ms: number): Promise<unknown> => new Promise((done) => setTimeout(done, ms));

  beforeEach(() => {
    kept = new Map();
    clock = 1_000_000;
    calls = [];
    isReached = true;
    let ids = 0;
    outbox = new Outbox(
      {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, value),
        removeItem: (key) => void kept.delete(key),
      },
      () => (ids++).toString(16).padStart(32, '0'),
    );
  });
  afterEach(() => waiting.stop());

  it('sends everything of its profile at the start', async () => {
    keep('film');
    keep('series', 'ben');
    start();
    await passed(10);
    expect(calls).to.deep.equal([['film']]);
    expect(JSON.parse(kept.get('foyer.positions') ?? '[]')).to.have.length(1);
  });

  it('tries again until the server answers, then is silent', async () => {
    isReached = false;
    keep('film');
    start();
    clock += 60_000;
    await passed(EVERY_MS * 2.5);
    expect(calls.length).to.be.greaterThan(1);
    isReached = true;
    await passed(EVERY_MS * 2);
    expect(kept.size).to.equal(0);
    const count = calls.length;
    await passed(EVERY_MS * 2);
    expect(calls.length).to.equal(count);
  });

  it('leaves a position that a running player still reports, until it is old or a flush is requested', async () => {
    start();
    keep('film');
    await passed(EVERY_MS * 2.5);
    expect(calls).to.deep.equal([]);
    await Promise.all([waiting.send(), waiting.send()]);
    expect(calls).to.deep.equal([['film']]);
  });

  it('sends nothing after its end', async () => {
    start();
    waiting.stop();
    keep('film');
    clock += 60_000;
    await passed(EVERY_MS * 2.5);
    expect(calls).to.deep.equal([]);
  });
});
