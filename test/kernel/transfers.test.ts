import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import Router from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { bytes, defineEndpoint } from '#kernel/endpoint.ts';
import { envelope, serve } from '#kernel/pipeline.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { atEnd, eventually } from '#support/stores.ts';

describe('bytes under way', function () {
  this.timeout(90_000);
  let api: Api;
  let url: string;
  const film = defineEndpoint({
    operationId: 'streamForEver',
    method: 'get',
    path: '/film',
    summary: 'Stream',
    access: { permission: 'library:view' },
    answer: bytes('video/mp4'),
    handle: async () => ({
      body: new Readable({
        read() {
          setTimeout(() => this.push(Buffer.alloc(1024)), 50);
        },
      }),
      type: 'video/mp4',
    }),
  });
  before(async () => {
    api = await startApi();
    const kernel = { deps: api.deps, readiness: { waitingFor: () => undefined } };
    const router = new Router().get('/film', serve(film, 'streaming', kernel));
    const app = new Koa().use(envelope(kernel)).use(router.routes());
    app.on('error', () => undefined); // the log does not count the cut text
    const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.closeAllConnections());
    atEnd(() => server.close());
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}/film`;
  });

  /** How it goes with the answer to this person. */
  const watch = async (who: Person) => {
    const abort = new AbortController();
    atEnd(() => abort.abort());
    const response = await fetch(url, { headers: who.headers, signal: abort.signal });
    expect(response.status).to.equal(200);
    const seen = { size: 0, ended: false };
    void (async () => {
      try {
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) seen.size += chunk.length;
      } catch {
        // cut off
      }
      seen.ended = true;
    })();
    await eventually(() => seen.size > 0);
    return seen;
  };

  it('end within 20 seconds of the key or the sign-in, and continue for those who are still signed in', async () => {
    const [owner, member] = [await api.given.owner(), await api.given.member()];
    const key = await api.given.key(owner, ['library:view']);
    const [byKey, signedOut, stays] = [await watch(key), await watch(member), await watch(owner)];
    await api.as(owner).revokeApiKey({ params: { id: key.keyId } });
    await api.as(member).logout({ body: {} });
    await eventually(() => byKey.ended && signedOut.ended, 40_000);
    const before = stays.size;
    await eventually(() => stays.size > before);
    expect(stays.ended).to.equal(false);
  });
});
