import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';

describe('the name of the server', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.deps.redis.flushdb(); // other files counted this address, and share the store
  });
  const set = async (key: string, value: string[]): Promise<void> => {
    await api.deps.db('settings').insert({ key, value: JSON.stringify(value) });
    await api.deps.settings.reload();
  };
  let clients = 0;
  /** Host of the link that an answer holds, when the request named this one. */
  const linked = async (host: string, more: Record<string, string> = {}): Promise<string> => {
    await api.deps.redis.flushdb();
    await api.deps.db('quick_connects').delete();
    clients += 1;
    const headers = { host, 'x-client-id': `client-of-name-${clients}`, ...more };
    const { body } = await send('POST', '/auth/quick-connect', headers);
    const { url } = JSON.parse(body) as { url?: string };
    return url === undefined ? body : new URL(url).host;
  };
  const send = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((done, fail) => {
      const sent = request(`${api.url}/api/v1${path}`, { method, headers }, (response) => {
        void text(response).then((body) => done({ status: response.statusCode ?? 0, headers: response.headers, body }));
      });
      sent.on('error', fail).end();
    });

  it('is taken from the request where it is one of this network or machine', async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((each = []) => each)
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    const ours = ['127.0.0.1:8080', 'localhost', 'nas', 'foyer.lan:8080', 'home.foyer.svc.cluster.local', '[::1]:8080'];
    for (const host of [...ours, '192.168.7.7', '[fd00::1]', ...(own ? [own] : [])])
      expect(await linked(host)).to.equal(host);
  });

  it('is never one that a caller made up', async () => {
    for (const host of [
      'evil.example',
      'evil.example:8080',
      '8.8.8.8',
      '[2001:4860::8888]',
      'a b',
      'lan.evil.example',
      'x@y',
    ])
      expect(await linked(host), host)
        .to.match(/^\d+\.\d+\.\d+\.\d+:\d+$/)
        .and.not.include('8.8.8.8');
  });

  it('is one that the settings name, and one that a trusted proxy let through', async () => {
    await set('network.corsOrigins', ['https://app.example']);
    expect(await linked('app.example')).to.equal('app.example');
    await set('network.trustedProxies', ['127.0.0.1/32']);
    expect(await linked('films.example')).to.equal('films.example');
    const { headers } = await send('GET', '/server/live', { host: 'films.example', 'x-forwarded-proto': 'https' });
    expect(headers['strict-transport-security'], 'by TLS').to.equal('max-age=15552000');
    const missing = await send('GET', '/nothing', { host: 'films.example', 'x-forwarded-proto': 'https' });
    expect(missing.headers['strict-transport-security'], 'of a refusal').to.equal('max-age=15552000');
    expect((await send('GET', '/server/live', {})).headers['strict-transport-security'], 'by http').to.equal(undefined);
  });
});
