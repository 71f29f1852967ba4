import { expect } from 'chai';
import type { ReportPlaybackBody } from '../../../../api/client/index.ts';
import { Outbox } from '../../../../web/src/core/player/outbox.ts';
import { Reached } from '../../../../web/src/core/player/reached.ts';
import type { Reading } from '../../../../web/src/core/player/reading.ts';
import { Reporter } from '../../../../web/src/core/player/report.ts';

const KEEP_ALIVE_MS = 40;

describe('reports of a player', () => {
  let kept: Map<string, string>;
  let clock: number;
  let reading: Reading;
  let sent: ReportPlaybackBody[];
  let ended: { id: string; positionMs?: number }[];
  let isReached: boolean;
  let reporters: Reporter[];
  let reached: Reached;

  const waiting = (): { positionMs: number; at: number }[] => JSON.parse(kept.get('foyer.positions') ?? '[]');
  const times = (): string[] => sent.map(({ at }) => at ?? '');

  function open(): Reporter {
    const outbox = new Outbox(
      {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, value),
        removeItem: (key) => void kept.delete(key),
      },
      () => '0'.repeat(32),
    );
    const answer = async <T>(value: T): Promise<T> => {
      if (!isReached) throw new Error('offline');
      return value;
    };
    const reporter = new Reporter({
      session: { id: 'session', profileId: 'ana', itemId: 'film', fileId: 'file' },
      keepAliveMs: KEEP_ALIVE_MS,
      outbox,
      reached,
      read: () => reading,
      send: async (_id, body) => {
        sent.push(body);
        return answer({ commands: [] } as never);
      },
      sendLast: async (_id, body) => {
        sent.push(body);
        return answer(undefined);
      },
      end: async (id, positionMs) => {
        ended.push({ id, ...(positionMs !== undefined && { positionMs }) });
        return answer(undefined);
      },
      answered: () => undefined,
      failed: () => undefined,
      now: () => clock,
    });
    reporters.push(reporter);
    return reporter;
  }

  const show = (state: Reading['state'], positionMs: number): void => {
    reading = { state, positionMs, rate: 1, bufferedMs: 0, droppedFrames: 0, subtitleStreamId: null };
  };
  const passed = async (ms: number): Promise<void> => {
    clock += ms;
    await new Promise((done) => setTimeout(done, KEEP_ALIVE_MS * 1.6));
  };

  beforeEach(() => {
    kept = new Map();
    clock = 1_000_000;
    sent = [];
    ended = [];
    isReached = true;
    reporters = [];
    reached = new Reached();
  });
  afterEach(() => {
    for (const reporter of reporters) reporter.stop();
  });

  it('repeat the time at which a paused player reached its position', async () => {
    show('paused', 88_000);
    open();
    await passed(0);
    await passed(10_000);
    await passed(10_000);
    expect(sent.length).to.be.greaterThan(2);
    expect([...new Set(times())]).to.deep.equal([new Date(1_000_000).toISOString()]);
  });

  it('repeat that time in a session that replaces a lost one, also while it loads', async () => {
    show('paused', 88_000);
    open();
    await passed(0);
    reporters[0]?.stop();
    sent = [];
    show('buffering', 88_000);
    open();
    await passed(60_000);
    show('paused', 88_120); // the first picture of the new stream
    await passed(60_000);
    expect(sent.length).to.be.greaterThan(1);
    expect([...new Set(times())]).to.deep.equal([new Date(1_000_000).toISOString()]);
  });

  it('have a new time when the player goes on, pauses elsewhere, or the person seeks', async () => {
    show('paused', 88_000);
    const reporter = open();
    await passed(0);
    show('playing', 88_000);
    await passed(60_000);
    expect(times().at(-1)).to.equal(new Date(1_060_000).toISOString());
    show('paused', 88_000);
    await passed(60_000);
    expect(times().at(-1)).to.equal(new Date(1_120_000).toISOString());
    clock += 5000;
    reporter.sought(88_000);
    await passed(60_000);
    expect(times().at(-1)).to.equal(new Date(1_125_000).toISOString());
  });

  it('keep no position in the browser that the server confirmed', async () => {
    show('paused', 88_000);
    const reporter = open();
    await passed(0);
    reporter.changed();
    expect(waiting()).to.deep.equal([]);
    show('playing', 90_000);
    clock += 10_000;
    reporter.changed();
    expect(waiting()).to.have.length(1);
  });

  it('end with one request, which has the position and confirms it', async () => {
    show('playing', 88_000);
    await open().end();
    expect(sent).to.deep.equal([]);
    expect(ended).to.deep.equal([{ id: 'session', positionMs: 88_000 }]);
    expect(waiting()).to.deep.equal([]);
  });

  it('say a change at once that the end would lose, and the end after it', async () => {
    show('playing', 88_000);
    const reporter = open();
    reading = { ...reading, subtitleStreamId: 'german' };
    reporter.changed();
    const end = reporter.end();
    expect(ended).to.deep.equal([]);
    await end;
    expect(sent.map(({ subtitleStreamId }) => subtitleStreamId)).to.deep.equal(['german']);
    expect(ended).to.deep.equal([{ id: 'session', positionMs: 88_000 }]);
  });

  it('keep the last position in the browser when the end does not reach the server', async () => {
    isReached = false;
    show('playing', 88_000);
    await open().end();
    expect(waiting()).to.have.length(1);
    expect(waiting()[0]).to.include({ positionMs: 88_000, at: 1_000_000 });
  });

  it('end without a position before the first second, unless the person went there', async () => {
    show('playing', 400);
    await open().end();
    const reporter = open();
    reporter.sought(0);
    await reporter.end();
    expect(ended).to.deep.equal([{ id: 'session' }, { id: 'session', positionMs: 400 }]);
  });
});
