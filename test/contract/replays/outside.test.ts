import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createOutbound, OutboundRefused } from '#platform/outbound.ts';
import { startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import { certificate } from '#support/post.ts';
import { startApiProcess } from '#support/processes.ts';
import { somebody } from '#support/signing-in.ts';
import { atEnd } from '#support/stores.ts';

const portOf = (server: { address: () => unknown }): number => (server.address() as AddressInfo).port;

describe('replay of published vulnerabilities: names, certificates and documents of other servers', function () {
  this.timeout(120_000);

  it('Navidrome GHSA-8hjf-6h34-82hr and GHSA-pr2j-mfc8-qjcc: a harmless name that leads home is judged by where it leads', async () => {
    let hits = 0;
    const server = createServer((_request, response) => {
      hits += 1;
      response.end('canary');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const outbound = createOutbound({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    for (const name of ['127.0.0.1.nip.io', 'harmless.example', 'localtest.me'])
      try {
        await outbound(`http://${name}:${portOf(server)}/`);
        expect.fail(name);
      } catch (error) {
        expect(error, name).to.be.instanceOf(OutboundRefused);
        expect((error as OutboundRefused).reason, name).to.equal('address');
      }
    expect(hits).to.equal(0);
  });

  it('Immich GHSA-hfvf-5c8x-8rc4: a server that cannot prove its name under TLS receives nothing', async () => {
    let hits = 0;
    const server = createTlsServer(certificate(), (_request, response) => {
      hits += 1;
      response.end('ok');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const api = await startApi({ FOYER_WEBHOOK_NETWORKS: '["127.0.0.1/32"]' });
    const { me } = await somebody(api, 'owner');
    const workers = new DeliveryWorkers(api);
    await workers.start();
    const url = `https://127.0.0.1:${portOf(server)}/`;
    const { body: hook } = await me.createWebhook({ body: { name: 'hook', events: ['*'], url } });
    const { body: tested } = await me.testWebhook({ params: { id: hook.id }, body: {} });
    expect(JSON.stringify(tested)).to.match(/tls/);
    expect(hits).to.equal(0);
  });

  it('Plex CVE-2018-13415: a document that names other documents is not answered with them', async () => {
    const api = await startApi();
    const { me } = await somebody(api, 'owner');
    const drawing = (inside: string, text: string): Buffer =>
      Buffer.from(
        `<?xml version="1.0"?><!DOCTYPE svg [${inside}]><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 300"><rect width="300" height="300" fill="#f80"/><text y="99">${text}</text></svg>`,
      );
    let hits = 0;
    const server = createServer((_request, response) => {
      hits += 1;
      response.end('<!ENTITY x "canary">');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const send = async (inside: string, text: string): Promise<number> => {
      const sent = await me.setBrandingLogo({
        params: { kind: 'main', scheme: 'dark' },
        body: drawing(inside, text),
        headers: { 'content-type': 'image/svg+xml' },
      });
      return sent.status;
    };
    const bombs = Array.from({ length: 12 }, (_, i) => `<!ENTITY b${i + 1} "${`&b${i};`.repeat(10)}">`);
    expect(await send('<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;'), 'a file').to.be.oneOf([400, 415]);
    expect(await send(`<!ENTITY b0 "laugh">${bombs.join('')}`, '&b12;'), 'a bomb').to.be.oneOf([400, 415]);
    await send(`<!ENTITY % p SYSTEM "http://127.0.0.1:${portOf(server)}/p.dtd"> %p;`, '');
    expect(hits).to.equal(0);
  });

  it('libwebp CVE-2023-4863: no decoder of pictures is in the process that has the keys', async () => {
    const api = await startApi();
    const owner = await api.given.owner();
    const { pid, url } = await startApiProcess(api);
    atEnd(() => process.kill(pid));
    const broken = Buffer.concat([Buffer.from('RIFF\xff\xff\xff\x7fWEBPVP8L', 'latin1'), Buffer.alloc(5000, 0xff)]);
    const headers = { ...owner.headers, 'content-type': 'image/webp' };
    const avatar = `${url}/api/v1/auth/profiles/${owner.profileId}/avatar`;
    const sent = await fetch(avatar, { method: 'PUT', headers, body: broken });
    expect(sent.status).to.be.oneOf([400, 415]);
    const loaded = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
    expect(loaded.filter((line) => /sharp|vips|webp/.test(line))).to.deep.equal([]);
  });
});
