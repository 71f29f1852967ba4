// Health and metrics endpoints of this process.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthSource {
  alive(): boolean;
  ready(): boolean;
  exposition(): Promise<string>;
}

export interface Ports {
  host?: string;
  /** 0 selects a free port. */
  health: number;
  metrics: number;
}

export interface Serving {
  health: number;
  metrics: number;
  close(): Promise<void>;
}

/** GET /healthz and /readyz on one port, GET /metrics on the other. */
export async function serveHealth(
  source: HealthSource,
  { host = '0.0.0.0', health, metrics }: Ports,
): Promise<Serving> {
  const answers = createServer((request, response) => {
    const holds = { '/healthz': () => source.alive(), '/readyz': () => source.ready() }[request.url ?? ''];
    const good = holds?.();
    response.writeHead(good === undefined ? 404 : good ? 200 : 503).end(good ? 'ok' : 'not ok');
  });
  const numbers = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    source.exposition().then(
      (text) => response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  answers.listen(health, host);
  numbers.listen(metrics, host);
  await Promise.all([once(answers, 'listening'), once(numbers, 'listening')]);
  return {
    health: portOf(answers),
    metrics: portOf(numbers),
    close: async () => void (await Promise.all([ended(answers), ended(numbers)])),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function ended(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
