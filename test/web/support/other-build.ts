// The app as another build of it, whose chunks have other names, and a pod that serves it.
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import Koa from 'koa';
import type { Api } from '#support/api.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { BUILD } from '../../../api/web/files.ts';
import { serveWeb } from '../../../api/web/serve.ts';

const IMMUTABLE = '_app/immutable';
const TEXTS = new Set(['.js', '.css', '.html', '.json']);

/** Every file of a folder by its path. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((one) =>
    one.isFile() ? [join(one.parentPath, one.name)] : [],
  );

/** `entry.Ab12.js` as `entry.Ab12-next.js`. */
const renamed = (path: string, mark: string): string =>
  path.slice(0, -extname(path).length) + `-${mark}` + extname(path);

/** A copy of the build of web/ in which each chunk has another name and the version is another one. */
export function otherBuild(mark = 'next'): string {
  const folder = temporaryFolder('other-build');
  cpSync(BUILD, folder, { recursive: true });
  const packed = filesOf(folder).filter((path) => /\.(br|gz)$/.test(path));
  for (const path of packed) rmSync(path); // they have the former names
  const chunks = filesOf(join(folder, IMMUTABLE));
  const names = new Map(chunks.map((path) => [basename(path), basename(renamed(path, mark))]));
  const name = new RegExp([...names.keys()].map((one) => one.replaceAll(/[.+$()]/g, '\\$&')).join('|'), 'g');
  for (const path of chunks) renameSync(path, renamed(path, mark));
  for (const path of filesOf(folder).filter((one) => TEXTS.has(extname(one)))) {
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(name, (found) => names.get(found) ?? found),
    );
  }
  const versionFile = join(folder, '_app/version.json');
  const { version } = JSON.parse(readFileSync(versionFile, 'utf8')) as { version: string };
  for (const path of filesOf(folder).filter((one) => TEXTS.has(extname(one))))
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(version, `${version}${mark}`));
  return folder;
}

function forward(api: Api, from: IncomingMessage, to: ServerResponse): void {
  const { method, headers, url = '' } = from;
  const onward = request(`${api.url}${url}`, { method: method ?? 'GET', headers }, (answer) => {
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(to);
  });
  onward.on('error', () => to.destroy());
  to.on('close', () => onward.destroy());
  from.pipe(onward);
}

/** A pod that serves the build in `folder`; the API behind it is the one of this process. */
export async function podOf(api: Api, folder: string): Promise<{ url: string }> {
  const web = serveWeb(api.deps as never, folder);
  const app = new Koa().use(web.files).use(web.others).callback();
  const server = createServer((from, to) => {
    if (from.url?.startsWith('/api/')) forward(api, from, to);
    else void app(from, to);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
