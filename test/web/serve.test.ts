import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { serveWeb } from '../../api/web/serve.ts';

const SHELL = '<!doctype html><script>one()</script><p>Foyer</p><script>two()</script>';
const CHUNK = 'export const chunk = 1;\n'.repeat(100);

function build(): string {
  const folder = temporaryFolder('web-build');
  mkdirSync(join(folder, '_app/immutable'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), SHELL);
  const chunk = join(folder, '_app/immutable/a.js');
  writeFileSync(chunk, CHUNK);
  writeFileSync(`${chunk}.br`, brotliCompressSync(CHUNK));
  writeFileSync(`${chunk}.gz`, gzipSync(CHUNK));
  return folder;
}

describe('serving the web app', () => {
  let api: Api;
  let url: string;

  async function served(folder: string): Promise<string> {
    const app = new Koa();
    const web = serveWeb(api.deps as never, folder);
    app.use(web.files).use(web.others);
    const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  before(async () => {
    api = await startApi();
    url = await served(build());
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(url + path, { method, headers });

  it('answers every page address with the shell, and a file that is not there with 404', async () => {
    for (const path of ['/', '/setup', '/item/0190', '/library/x?at=y', '/apiary']) {
      const response = await get(path);
      expect([response.status, await response.text()], path).to.deep.equal([200, SHELL]);
      expect(response.headers.get('cache-control')).to.equal('no-cache');
    }
    for (const path of [
      '/_app/immutable/gone.js',
      '/robots.txt',
      '/.well-known/x',
      '/api',
      '/api/v1/x',
      '/../package.json',
      '/%2e%2e/package.json',
    ])
      expect((await get(path)).status, path).to.equal(404);
    expect((await get('/', {}, 'POST')).status).to.equal(404);
  });

  it('sends chunks in the coding that the client accepts, for ever, with an entity tag of each coding', async () => {
    const tags = new Set<string | null>();
    for (const [accepted, coding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const response = await get('/_app/immutable/a.js', { 'accept-encoding': accepted });
      expect(response.headers.get('content-encoding'), accepted).to.equal(coding);
      expect(response.headers.get('vary')).to.equal('Accept-Encoding');
      expect(response.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      expect(await response.text()).to.equal(CHUNK); // fetch decodes it
      tags.add(response.headers.get('etag'));
    }
    expect(tags.size).to.equal(3);
    expect(brotliDecompressSync(brotliCompressSync(CHUNK)).toString()).to.equal(CHUNK);
  });

  it('answers 304 to the entity tag, and HEAD without a body', async () => {
    const first = await get('/');
    const again = await get('/', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).to.deep.equal([304, '']);
    const head = await get('/', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).to.deep.equal([
      200,
      String(SHELL.length),
      '',
    ]);
  });

  it('carries the headers of every answer of the server', async () => {
    const { headers } = await get('/', { 'x-request-id': 'page-1' });
    const names = ['x-request-id', 'x-content-type-options', 'referrer-policy', 'cross-origin-resource-policy'];
    expect(names.map((name) => headers.get(name))).to.deep.equal(['page-1', 'nosniff', 'no-referrer', 'same-origin']);
    const own = (await get('/_app/immutable/a.js')).headers.get('x-request-id');
    expect(own).to.match(/^[\da-f-]{36}$/);
  });

  it('allows the inline scripts of the shell by their hashes and nothing else', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    for (const script of ['one()', 'two()'])
      expect(policy).to.include(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(policy).to.include("default-src 'none'").and.to.include("require-trusted-types-for 'script'");
    expect(policy).to.not.match(/unsafe-inline|'unsafe-eval'|https?:/);
  });

  it('names the app after the server in its manifest', async () => {
    const response = await get('/manifest.webmanifest');
    expect(response.headers.get('content-type')).to.include('application/manifest+json');
    const manifest = (await response.json()) as { name: string; icons: { src: string }[] };
    expect(manifest.name).to.equal('Foyer');
    for (const { src } of manifest.icons) {
      const icon = await api.fetch(src);
      expect([icon.status, icon.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    }
  });

  it('passes requests on without a build', async () => {
    const bare = await served(temporaryFolder('no-build'));
    expect((await fetch(`${bare}/`)).status).to.equal(404);
  });
});
