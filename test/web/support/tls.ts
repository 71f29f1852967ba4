// The proxy that a household puts before its server for https: it ends TLS and says so to the pod.
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { saveSettings } from '#platform/settings.ts';
import type { Api } from '#support/api.ts';
import { certificate } from '#support/post.ts';
import { atEnd } from '#support/stores.ts';

/** The https address of the server; its certificate is its own. */
export async function behindTls(api: Api): Promise<string> {
  const { port } = new URL(api.url);
  const server = createServer(certificate(), (incoming, answer) => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https' };
    const options = { host: '127.0.0.1', port, path: incoming.url, method: incoming.method, headers };
    const onward = request(options, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { 'network.trustedProxies': ['127.0.0.1/32'], 'server.publicUrl': url };
  await saveSettings(api.deps.db, settings as never, null);
  await api.deps.settings.reload();
  return url;
}
