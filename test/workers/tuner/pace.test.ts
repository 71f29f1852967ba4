import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { trustedCertificate } from '#support/certificate.ts';
import { atEnd } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import type { SourceFault } from '#workers/tuner/streams/fault.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';

const WRITES = 60;
const sent = randomBytes(WRITES * 7000);

interface Heard {
  bytes: Buffer;
  chunks: number;
  fault: string | undefined;
}

describe('the pace of a tuner', function () {
  this.timeout(30_000);

  /** The body that a server answers in many small writes, read with pauses. */
  async function heard(answer: (response: ServerResponse) => Promise<void>, scheme = 'http'): Promise<Heard> {
    const listener: RequestListener = (_request, response) => void answer(response);
    const server = scheme === 'https' ? createTlsServer(trustedCertificate('pace'), listener) : createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/auto/v1`;
    const networks = { always: ['127.0.0.0/8'] };
    const deps = { send: createOutboundStream(), connect: createOutboundSocket(), networks, rests: () => true };
    const { bytes } = await openSource({ url, headers: {} }, { ...deps, signal: AbortSignal.timeout(20_000) });
    const chunks: Buffer[] = [];
    let fault: string | undefined;
    try {
      for await (const chunk of bytes) {
        const before = Buffer.from(chunk);
        await sleep(2); // bytes that come meanwhile leave it as it is
        if (!before.equals(chunk)) throw new Error('the chunk changed');
        chunks.push(before);
      }
    } catch (error) {
      fault = (error as SourceFault).reason ?? (error as Error).message;
    }
    return { bytes: Buffer.concat(chunks), chunks: chunks.length, fault };
  }

  const written = async (response: ServerResponse): Promise<void> => {
    for (let at = 0; at < WRITES; at += 1) {
      response.write(sent.subarray(at * 7000, (at + 1) * 7000));
      await sleep(5);
    }
  };

  it('reads all bytes of a body in fewer and larger chunks, whatever its framing is', async () => {
    for (const headers of [{}, { 'content-length': String(sent.length) }, { connection: 'close' }]) {
      const found = await heard(async (response) => {
        response.writeHead(200, headers);
        await written(response);
        response.end();
      });
      expect(found.bytes.equals(sent), JSON.stringify(headers)).to.equal(true);
      expect(found.chunks).to.be.within(2, WRITES / 3);
      expect(found.fault).to.equal(undefined);
    }
  });

  it('leaves a chunk as it is while TLS decrypts more records', async () => {
    const found = await heard(async (response) => {
      response.writeHead(200, { 'content-length': String(sent.length) });
      for (let at = 0; at < sent.length; at += 1000) {
        response.write(sent.subarray(at, at + 1000));
        await turn(); // one record each
      }
      response.end();
    }, 'https');
    expect(found.fault).to.equal(undefined);
    expect(found.bytes.equals(sent)).to.equal(true);
    expect(found.chunks).to.be.greaterThan(2);
  });

  it('gives the bytes that came before the connection was cut', async () => {
    const found = await heard(async (response) => {
      response.writeHead(200);
      await written(response);
      response.destroy();
    });
    expect(found.fault).to.equal('ended');
    expect(found.bytes.equals(sent.subarray(0, found.bytes.length))).to.equal(true);
    expect(found.bytes.length).to.be.greaterThan(sent.length / 2);
  });

  it('uses the memory of stored pieces again, and that of no other', () => {
    const film = Buffer.concat(Array.from({ length: 4 }, () => broadcast('mpeg2')));
    const cut = (size: number, take: (piece: Piece) => Buffer): Buffer[] => {
      const pieces: Buffer[] = [];
      const cutter = new LiveCutter((piece) => pieces.push(take(piece)));
      const chunk = Buffer.alloc(size);
      for (let at = 0; at < film.length; at += size) cutter.push(chunk.subarray(0, film.copy(chunk, 0, at, at + size)));
      cutter.end();
      return pieces;
    };
    const kept = cut(1 << 16, ({ bytes }) => bytes);
    let memory = new Set<ArrayBufferLike>();
    const copied = cut(1000, ({ bytes, release }) => {
      memory = memory.add(bytes.buffer);
      const copy = Buffer.from(bytes);
      release?.();
      return copy;
    });
    expect(copied.length).to.be.greaterThan(6);
    expect(copied.map((bytes) => bytes.toString('base64'))).to.deep.equal(
      kept.map((bytes) => bytes.toString('base64')),
    );
    expect(memory.size).to.be.lessThan(copied.length / 2);
  });
});
