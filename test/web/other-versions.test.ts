import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { connectObjects, type Objects } from '#platform/objects.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { publishBuild } from '../../api/web/other-versions.ts';
import { serveWeb } from '../../api/web/serve.ts';

/** A build whose version has a chunk of its own and one that all have. */
function build(version: string): string {
  const folder = temporaryFolder('web-build');
  const chunks = join(folder, '_app/immutable');
  mkdirSync(chunks, { recursive: true });
  writeFileSync(join(folder, 'index.html'), `<p>${version}</p>`);
  writeFileSync(join(folder, '_app/version.json'), JSON.stringify({ version }));
  writeFileSync(join(chunks, 'all.js'), 'all()');
  writeFileSync(join(chunks, `${version}.js`), `${version}()`);
  writeFileSync(join(chunks, `${version}.js.br`), brotliCompressSync(`${version}()`));
  return folder;
}

describe('chunks of the versions before and after', () => {
  let api: Api;
  let objects: Objects;
  before(async () => {
    api = await startApi();
    objects = connectObjects(`file://${temporaryFolder('objects')}`);
    await objects.prepare(['foyer-derived']);
  });

  async function podOf(folder: string): Promise<(path: string) => Promise<Response>> {
    const app = new Koa();
    const web = serveWeb({ ...api.deps, objects } as never, folder);
    app.use(web.files).use(web.others);
    const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const { port } = server.address() as { port: number };
    return (path) => fetch(`http://127.0.0.1:${port}/_app/immutable/${path}`, { headers: { 'accept-encoding': 'br' } });
  }

  it('are served by pods of either version, with their codings, while the last two versions are kept', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map(build) as [string, string, string];
    await publishBuild(objects, one);
    await publishBuild(objects, two);
    const [first, second] = [await podOf(one), await podOf(two)];
    for (const [pod, path] of [
      [first, 'two.js'],
      [second, 'one.js'],
    ] as const) {
      const response = await pod(path);
      expect([response.status, await response.text()], path).to.deep.equal([200, `${path.replace('.js', '')}()`]);
      expect(response.headers.get('content-encoding')).to.equal('br');
      expect(response.headers.get('cache-control')).to.contain('immutable');
    }
    expect((await first('nowhere.js')).status).to.equal(404);
    await publishBuild(objects, three);
    const third = await podOf(three);
    expect([(await third('one.js')).status, (await third('two.js')).status]).to.deep.equal([404, 200]);
    expect((await third('all.js')).status, 'a chunk of every version').to.equal(200);
    await publishBuild(objects, two); // rolled back
    await publishBuild(objects, one);
    expect((await (await podOf(two))('three.js')).status).to.equal(404);
  });

  it('are 404 while the store fails', async () => {
    const failing = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the store is down')) }) };
    const broken = { ...objects, list: () => failing };
    const app = new Koa();
    const web = serveWeb({ ...api.deps, objects: broken } as never, build('four'));
    app.use(web.files).use(web.others);
    const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const { port } = server.address() as { port: number };
    expect((await fetch(`http://127.0.0.1:${port}/_app/immutable/gone.js`)).status).to.equal(404);
  });
});
