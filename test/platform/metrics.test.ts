import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import metrics from 'prom-client';
import { serveMetrics } from '#platform/metrics.ts';
import { freePort } from '#support/stores.ts';

describe('the port of a process', () => {
  let url = '';
  let collect: () => Promise<void> = async () => undefined;
  before(async () => {
    new metrics.Gauge({ name: 'test_of_a_store', help: 'A gauge that queries a store.', collect: () => collect() });
    const server = serveMetrics(await freePort(), '127.0.0.1');
    if (!server) throw new Error('no server');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    metrics.register.clear();
  });

  it('answers that it lives while a collector waits for a store', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    collect = () => promise;
    const scrape = fetch(`${url}/metrics`);
    expect((await fetch(`${url}/live`)).status).to.equal(200);
    resolve();
    expect(await (await scrape).text()).to.include('test_of_a_store');
  });

  it('answers 503 to a scrape when a collector fails, and serves the next one', async () => {
    collect = () => Promise.reject(new Error('the store is unavailable'));
    expect((await fetch(`${url}/metrics`)).status).to.equal(503);
    collect = async () => undefined;
    expect((await fetch(`${url}/metrics`)).status).to.equal(200);
  });
});
