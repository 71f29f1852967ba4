import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { exchange, Pool } from '#operator/server-api/exchange.ts';

describe('exchange', () => {
  let server: Server;
  let answer: RequestListener;
  let address: string;
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    answer = (_request, response) => response.end('there');
    server = createServer((request, response) => {
      sockets.add(request.socket);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterEach(() => {
    sockets.clear();
    server.closeAllConnections();
    server.close();
  });

  it('uses the connections of a pool again, and without one opens a new one each time', async () => {
    const pool = new Pool();
    for (const _ of [1, 2, 3]) expect((await exchange(address, { timeoutMs: 5000, pool })).text).to.equal('there');
    expect(sockets.size).to.equal(1);
    for (const _ of [1, 2]) await exchange(address, { timeoutMs: 5000 });
    expect(sockets.size).to.equal(3);
    pool.http.destroy();
  });

  it('sends the request once more where a kept connection turns out to be closed', async () => {
    const pool = new Pool();
    await exchange(address, { timeoutMs: 5000, pool });
    const [kept] = sockets;
    answer = (request, response) => (request.socket === kept ? request.socket.resetAndDestroy() : response.end('anew'));
    expect((await exchange(address, { timeoutMs: 5000, pool })).text).to.equal('anew');
    pool.http.destroy();
  });

  it('sends bodies whole, and returns the body of a refusal', async () => {
    answer = (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => response.writeHead(409).end(Buffer.concat(parts)));
    };
    const body = 'Größe'.repeat(20_000);
    expect(await exchange(address, { method: 'POST', body, timeoutMs: 5000 })).to.deep.equal({
      status: 409,
      text: body,
    });
  });

  it('gives up a server that does not answer, and one that breaks off', async () => {
    const fault = (timeoutMs: number) => exchange(address, { timeoutMs }).then(String, (error: Error) => error.message);
    answer = () => undefined;
    expect(await fault(50)).to.equal('no answer within 50 ms');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('a part');
      setImmediate(() => response.destroy());
    };
    expect(await fault(5000)).to.equal('aborted');
  });
});
