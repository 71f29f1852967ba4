import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { exchange } from '#operator/server-api/exchange.ts';
import { atEnd } from '#support/stores.ts';
import { running, specOf } from './specs.ts';

const GIB = 2 ** 30;
const pool = ['waiting 0', 'sessions 0', 'workers 0'].map((text) => `foyer_transcode_${text}\n`).join('');

describe('volumes of managed stores', () => {
  /** A server whose API pod answers its metrics on a socket. */
  const serving = async () => {
    const here = await running();
    const free = { 'data-home-postgres-0': 6 * GIB, 'data-home-objects-0': 12 * GIB };
    const total = { 'data-home-postgres-0': 10 * GIB, 'data-home-objects-0': 20 * GIB };
    const lines = (member: string, values: object): string =>
      Object.entries(values)
        .map(([name, value]) => `foyer_store_volume_${member}_bytes{volume="${name}"} ${value}\n`)
        .join('');
    const api = createServer((_, response) => response.end(pool + lines('free', free) + lines('total', total)));
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
    atEnd(() => void api.close());
    const address = `http://127.0.0.1:${(api.address() as AddressInfo).port}/metrics`;
    const { connect } = here.tools;
    const metrics = async (): Promise<string> => (await exchange(address, { timeoutMs: 5000 })).text;
    here.tools.connect = (server, key) => ({ ...connect(server, key), metrics });
    return { here, free };
  };

  it('degrade the server while one is nearly full, by name and free bytes', async () => {
    const { here, free } = await serving();
    await here.pass();
    expect(here.condition('Degraded')).to.equal('False AllReady');
    free['data-home-postgres-0'] = 966_367_641;
    await here.pass();
    expect(here.condition('Degraded')).to.equal('True DiskLow');
    expect(here.message('Degraded')).to.include('data-home-postgres-0 has 0.9 of 10.0 GiB free (966367641 bytes)');
    expect(here.message('Degraded')).to.not.include('data-home-objects-0');
    expect(here.condition('Ready'), 'it serves still').to.equal('True AllReady');
    free['data-home-postgres-0'] = 5 * GIB;
    await here.pass();
    expect(here.condition('Degraded')).to.equal('False AllReady');
  });

  it('are named to the workers where the operator runs the store', async () => {
    const { here } = await serving();
    const { containers } = (specOf(here, 'Deployment', 'home-workers') as { template: { spec: Pods } }).template.spec;
    const text = containers[0]?.env.find(({ name }) => name === 'FOYER_STORE_VOLUMES')?.value ?? '{}';
    expect(JSON.parse(text)).to.deep.equal({ postgres: 'data-home-postgres-0', objects: 'data-home-objects-0' });
  });
});

interface Pods {
  containers: { env: { name: string; value?: string }[] }[];
}
