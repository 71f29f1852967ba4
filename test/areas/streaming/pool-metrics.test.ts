import { join } from 'node:path';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { servePoolMetrics } from '#areas/streaming/public.ts';
import { reportWorker } from '#areas/streaming/sessions/offers.store.ts';
import { film, openSession, stage } from '#support/hls-session.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('servePoolMetrics', function () {
  this.timeout(600_000);
  let made: string;
  before(async () => {
    ({ made } = await fixtures());
  });

  it('exposes demand and each live worker at every scrape', async () => {
    const on = await stage(made);
    const registry = new Registry();
    servePoolMetrics(on, registry);
    expect(await registry.metrics()).to.include('foyer_transcode_waiting 0');
    await openSession(on.db, await film(on.db, join(made, 'h264-gop40.mp4')), { mode: 'encode' });
    const report = {
      pod: 'home-transcode-0-x',
      encoder: 'nvenc',
      gpu: true,
      slots: 3,
      used: 0,
      idleSince: Date.now() - 5000,
    };
    await reportWorker(on.redis, 'one', report);
    const text = await registry.metrics();
    expect(text).to.include('foyer_transcode_waiting 1').and.include('foyer_transcode_sessions 0');
    expect(text).to.include('foyer_transcode_workers 1');
    expect(text).to.match(/worker_slots\{pod="home-transcode-0-x",encoder="nvenc",gpu="true"\} 3/);
    expect(Number(/idle_seconds\{[^}]*\} ([\d.]+)/.exec(text)?.[1])).to.be.within(5, 60);
  });

  it('omits the values of a store that is unavailable', async () => {
    const on = await stage(made, { FOYER_REDIS_URL: 'redis://127.0.0.1:1' });
    const registry = new Registry();
    servePoolMetrics(on, registry);
    const text = await registry.metrics();
    expect(text)
      .to.include('foyer_transcode_waiting 0')
      .and.not.match(/^foyer_transcode_workers /m);
  });
});
