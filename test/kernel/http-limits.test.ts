import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bytesInFlight, noteUpload, wholeBody } from '#kernel/body.ts';
import { atEnd } from '#support/stores.ts';
import type { ConnectionLimits } from '../../api/http-limits.ts';
import { createApiServer } from '../../api/http-server.ts';

const limits: ConnectionLimits = {
  most: 1000,
  mostOfAddress: 1000,
  inside: ['127.0.0.0/8'],
  trusted: () => [],
  stallMs: 300,
  checkMs: 20,
};

/** Reads a body below `/read`, as an upload below `/upload`; answers others without reading it. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/upload') noteUpload(request);
  const reads = request.url === '/read' || request.url === '/upload';
  const read = reads ? wholeBody(request, 1 << 20) : Promise.resolve(Buffer.alloc(0));
  const received = await read
    .then(({ length }) => String(length))
    .catch((error: { code?: string }) => String(error.code));
  response.end(received);
}

describe('connections', () => {
  const start = async (more: Partial<ConnectionLimits> = {}): Promise<{ server: Server; port: number }> => {
    const server = createApiServer((request, response) => void serve(request, response), { ...limits, ...more });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return { server, port: (server.address() as { port: number }).port };
  };

  const open = async (port: number): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    await once(socket, 'connect');
    const closed = new Promise((done) => socket.once('close', done));
    atEnd(() => socket.destroy());
    return { socket, received: () => Buffer.concat(chunks).toString(), closed };
  };
  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

  it('whose body stands still are closed, and their bytes are given back', async () => {
    const { port } = await start();
    const all = await Promise.all(Array.from({ length: 20 }, () => open(port)));
    for (const { socket } of all) socket.write(head('/read', 1 << 20) + 'x'.repeat(50_000));
    while (bytesInFlight() < 20 * 50_000) await sleep(10);
    await Promise.all(all.map(({ closed }) => closed));
    while (bytesInFlight() > 0) await sleep(10);
  });

  it('whose bodies are too many together are answered with a time to come back', async () => {
    const { port } = await start({ stallMs: 20_000 });
    const most = 1 << 20;
    const all = await Promise.all(Array.from({ length: 129 }, () => open(port)));
    for (const { socket } of all) socket.write(head('/read', most) + 'x'.repeat(most - 1));
    while (!all.some(({ received }) => received() !== '')) await sleep(10);
    expect(all.map(({ received }) => received()).join('')).to.include('SERVICE_STARTING');
    for (const { socket } of all) socket.destroy();
    while (bytesInFlight() > 0) await sleep(10);
  });

  it('that were answered before their body came are closed too', async () => {
    const { port } = await start();
    const { socket, received, closed } = await open(port);
    socket.write(head('/other', 1000));
    await closed;
    expect(received()).to.match(/^HTTP\/1\.1 200 /);
  });

  it('whose body was refused in its midst are closed too', async () => {
    const { port } = await start();
    const { socket, received, closed } = await open(port);
    socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    for (let i = 0; i < 20; i += 1) socket.write(`10000\r\n${'x'.repeat(0x1_0000)}\r\n`);
    await closed;
    expect(received()).to.include('PAYLOAD_TOO_LARGE');
  });

  it('whose body comes by drops are closed', async () => {
    const { port } = await start({ stallMs: 100 });
    const { socket, closed } = await open(port);
    socket.write(head('/read', 1000));
    const drops = setInterval(() => socket.write('x'), 30);
    await closed;
    clearInterval(drops);
  });

  it('with an upload wait for its sender', async () => {
    const { port } = await start({ stallMs: 100 });
    const { socket, received } = await open(port);
    socket.write(`${head('/upload', 10)}12345`);
    await sleep(600);
    socket.write('67890');
    await once(socket, 'data');
    expect(received()).to.match(/\r\n10\r\n|10$/);
  });

  it('of one address outside are bounded by themselves', async () => {
    const { port } = await start({ mostOfAddress: 2, inside: [] });
    const held = await Promise.all([open(port), open(port)]);
    const third = await open(port);
    await third.closed;
    expect(third.received()).to.match(/^HTTP\/1\.1 503 /);
    held[0]?.socket.destroy();
    await sleep(50);
    const next = await open(port);
    next.socket.write('GET /other HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(next.socket, 'data');
    expect(next.received()).to.match(/^HTTP\/1\.1 200 /);
  });

  it('of a trusted proxy are bounded by all of them alone, from when it is trusted', async () => {
    const trusted: string[][] = [[]];
    const { port } = await start({ mostOfAddress: 2, inside: [], trusted: () => trusted.at(-1) ?? [] });
    await Promise.all([open(port), open(port)]);
    const stranger = await open(port);
    await stranger.closed;
    expect(stranger.received()).to.match(/^HTTP\/1\.1 503 /);
    trusted.push(['127.0.0.1/32']);
    const all = await Promise.all([open(port), open(port), open(port)]);
    for (const { socket, received } of all) {
      socket.write('GET /other HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      expect(received()).to.match(/^HTTP\/1\.1 200 /);
    }
  });

  it('over the limit are answered with a time to come back, but for probes, and have a place once others close', async () => {
    const { port } = await start({ most: 3 });
    const held = await Promise.all(Array.from({ length: 3 }, () => open(port)));
    for (const { socket } of held) socket.write(head('/read', 10)); // idle ones would make place
    await sleep(50);
    const send = async (path: string): Promise<string> => {
      const { socket, received, closed } = await open(port);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await closed;
      return received();
    };
    const refused = await send('/read');
    expect(refused)
      .to.match(/^HTTP\/1\.1 503 /)
      .and.match(/^Retry-After: 5\r$/m);
    expect(refused).to.include('"waitingFor":"capacity"');
    expect(await send('/api/v1/server/live')).to.match(/^HTTP\/1\.1 200 /);
    for (const { socket } of held) socket.destroy();
    await sleep(50);
    const { socket, received } = await open(port);
    socket.write('GET /read HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    expect(received()).to.match(/^HTTP\/1\.1 200 /);
  });
});
