// The packed client as others get it: plain JavaScript in Node, and bundled in a browser of another origin.

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';

describe('the packed client', function () {
  this.timeout(120_000);
  let api: Api;
  let key: string;
  let folder: string;
  let origin: string;
  before(async () => {
    folder = temporaryFolder('client');
    execFileSync(process.execPath, ['hack/client/pack.ts', join(folder, 'node_modules/foyer-client')], {
      stdio: 'inherit',
    });
    symlinkSync(resolve('node_modules/eventsource-parser'), join(folder, 'node_modules/eventsource-parser'));
    const pages = createServer((_request, response) => void response.end('<!doctype html><title>tv</title>'));
    await new Promise<void>((done) => pages.listen(0, '127.0.0.1', done));
    atEnd(() => pages.close());
    origin = `http://127.0.0.1:${(pages.address() as { port: number }).port}`;
    api = await startApi({ FOYER_SETTINGS: JSON.stringify({ 'network.corsOrigins': [origin] }) });
    const owner = await api.given.owner();
    key = (await api.given.key(owner, ['library:view', 'library:manage'])).headers['authorization']?.slice(7) ?? '';
  });

  const CODE = `const client = createClient({ server, credential: apiKey(key) });
    const made = await client.createLibrary({ body: { name: server + where, type: 'movies' } });
    const names = [];
    for (const { name } of await client.listLibraries()) names.push(name);
    for await (const { id } of client.each('listItems', { query: { limit: 2 } })) names.push(id);
    const code = await client.getLibrary({ params: { id: '01900000-0000-7000-8000-00000000dead' } }).catch((e) => e.code);
    return { made: made.name, listed: names.includes(made.name), code };`;
  const expected = (where: string) => ({ made: api.url + where, listed: true, code: 'NOT_FOUND' });

  it('works in plain Node', async () => {
    const text = `import { apiKey, createClient } from 'foyer-client';
      const [server, key, where] = process.argv.slice(2);
      const work = async () => { ${CODE} };
      console.log(JSON.stringify(await work()));`;
    writeFileSync(join(folder, 'use.mjs'), text);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'use.mjs'), api.url, key, '/node']);
    expect(JSON.parse(stdout)).to.deep.equal(expected('/node'));
  });

  it('works in a browser, from a page of another origin that the server allows', async () => {
    const text = `import { apiKey, createClient } from 'foyer-client';
      globalThis.work = async (server, key, where) => { ${CODE} };`;
    writeFileSync(join(folder, 'page.mjs'), text);
    const out = join(folder, 'page.js');
    await build({
      entryPoints: [join(folder, 'page.mjs')],
      bundle: true,
      platform: 'browser',
      format: 'iife',
      outfile: out,
    });
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      await page.goto(origin);
      await page.addScriptTag({ content: readFileSync(out, 'utf8') });
      const result = await page.evaluate(`work(${JSON.stringify(api.url)}, ${JSON.stringify(key)}, '/page')`);
      expect(result).to.deep.equal(expected('/page'));
    } finally {
      await browser.close();
    }
  });
});
