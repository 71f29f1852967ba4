import { expect } from 'chai';
import { transcodeCount } from '#operator/local/transcode-count.ts';
import type { PoolDemand } from '#operator/media-server/transcode-pool.ts';

describe('transcode workers on one machine', () => {
  const spec = { sessionsPerJob: 2, warm: 0, max: 3, fallbackToCPU: true, idleSeconds: 300 };
  const worker = (number: number, used: number, idleSeconds = 0) => ({
    pod: `transcode-${number}-1f09ab`,
    encoder: 'libx264',
    gpu: false,
    slots: 2,
    used,
    idleSeconds,
  });
  const demand = (waiting: number, ...workers: PoolDemand['workers']): PoolDemand => ({
    waiting,
    sessions: 0,
    workers,
  });
  const count = (seen: PoolDemand | undefined, running = 0, more = {}) =>
    transcodeCount({ ...spec, ...more }, { demand: seen, running, silent: 0 });

  it('are as many as wait ready, and none for none', () => {
    expect([0, 1, 9].map((warm) => count(demand(0), 0, { warm }))).to.deep.equal([0, 1, 3]);
    expect(count(demand(9), 0, { max: 0 })).to.equal(0);
  });

  it('are started for sessions that find no slot, up to the most', () => {
    expect([1, 2, 3, 50].map((waiting) => count(demand(waiting)))).to.deep.equal([1, 1, 2, 3]);
    expect(count(demand(1, worker(1, 1)), 1)).to.equal(1); // it has a slot free
    expect(count(demand(1, worker(1, 2)), 1)).to.equal(2);
  });

  it('are not started twice for the same session while one starts', () => {
    expect(count(demand(1), 1)).to.equal(1);
  });

  it('are started next to one that runs and never reported', () => {
    expect(transcodeCount(spec, { demand: demand(1), running: 1, silent: 1 })).to.equal(2);
  });

  it('end once they served no session for a while, the highest number first', () => {
    expect(count(demand(0, worker(1, 0, 301)), 1)).to.equal(0);
    expect(count(demand(0, worker(1, 0, 200)), 1)).to.equal(1);
    expect(count(demand(0, worker(1, 0, 900), worker(2, 1), worker(3, 0, 900)), 3)).to.equal(2);
  });

  it('stay as they are without a report', () => {
    expect([count(undefined, 2), count(undefined, 0), count(undefined, 0, { warm: 1 })]).to.deep.equal([2, 0, 1]);
  });
});
