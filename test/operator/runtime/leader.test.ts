import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Credentials } from '#operator/runtime/credentials.ts';
import { Deposed } from '#operator/runtime/faults.ts';
import { Leader } from '#operator/runtime/leader.ts';
import { newLog } from '#operator/runtime/log.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';
import { temporaryFolder } from '#support/stores.ts';

interface Lease {
  spec: { holderIdentity: string };
}

describe('the lease', () => {
  let server: Server;
  let rest: Rest;
  let leader: Leader;
  let lease: Lease | undefined;
  /** So many writes are refused by a server that has too much to do. */
  let refusals = 0;

  beforeEach(async () => {
    lease = undefined;
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const refused = body !== '' && refusals > 0;
        if (refused) refusals -= 1;
        else if (body) lease = JSON.parse(body) as Lease;
        const status = refused ? 503 : lease ? 200 : 404;
        response.writeHead(status).end(JSON.stringify(lease ?? {}));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const path = join(temporaryFolder('lease'), 'kubeconfig');
    const named = (name: string, more: object) => [{ name, ...more }];
    const config = {
      'current-context': 'c',
      clusters: named('c', { cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }),
      users: named('u', { user: { token: 't' } }),
      contexts: named('c', { context: { cluster: 'c', user: 'u', namespace: 'default' } }),
    };
    writeFileSync(path, JSON.stringify(config));
    rest = new Rest({ credentials: new Credentials(path), metrics: newMetrics(), fence: () => undefined });
    leader = new Leader({ rest, log: newLog('silent'), namespace: 'default', name: 'operator' });
    await leader.acquire(new AbortController().signal);
    expect(lease).to.have.nested.property('spec.holderIdentity', leader.identity);
  });
  afterEach(async () => {
    refusals = 0;
    rest.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('is let go of also when a write is refused at first', async () => {
    refusals = 1;
    await leader.release();
    expect(leader.leads).to.equal(false);
    expect(lease?.spec.holderIdentity).to.equal('');
  });

  it('of another operator stays theirs', async () => {
    lease = { spec: { holderIdentity: 'another' } };
    await leader.release();
    expect(lease.spec.holderIdentity).to.equal('another');
  });

  it('is given up on when the server takes no write', async () => {
    refusals = 100;
    await leader.release();
    expect(leader.leads).to.equal(false);
    expect(lease?.spec.holderIdentity).to.equal(leader.identity);
  });

  it('that cannot be renewed permits no write, well before another operator may take it', async () => {
    const times = { leaseMs: 4000, renewMs: 1000, retryMs: 200, waitMs: 100 };
    lease = undefined;
    const held = new Leader({ rest, log: newLog('silent'), namespace: 'default', name: 'operator', times });
    const began = performance.now();
    await held.acquire(new AbortController().signal);
    held.fence();
    refusals = Number.POSITIVE_INFINITY;
    await held.hold(new AbortController().signal);
    expect(() => held.fence()).to.throw(Deposed);
    expect(performance.now() - began).to.be.below(times.leaseMs);
  });
});
