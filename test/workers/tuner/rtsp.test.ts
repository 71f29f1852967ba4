import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createOutboundSocket } from '#platform/outbound-agent.ts';
import { createOutboundStream } from '#platform/outbound-stream.ts';
import { PATIENCE } from '#support/patience.ts';
import { type RtspServer, rtspServer } from '#support/rtsp-server.ts';
import { atEnd } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { openSource } from '#workers/tuner/streams/reader.ts';
import { RtpOrder } from '#workers/tuner/streams/rtsp/order.ts';

const ENOUGH = 60_000;

interface Opened {
  bytes: AsyncIterable<Buffer>;
  stop(): void;
}

async function open(url: string): Promise<Opened> {
  const stop = new AbortController();
  atEnd(() => stop.abort());
  const networks = { always: ['127.0.0.1/32'] };
  const ways = { send: createOutboundStream(), connect: createOutboundSocket() };
  const { bytes } = await openSource({ url, headers: {} }, { ...ways, networks, signal: stop.signal });
  return { bytes, stop: () => stop.abort() };
}

/** The first bytes of a stream, which is left open. */
async function firstOf({ bytes }: Opened, most = ENOUGH): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const reading = bytes[Symbol.asyncIterator]();
  for (let size = 0; size < most; ) {
    const { value } = await reading.next();
    chunks.push(value as Buffer);
    size += (value as Buffer).length;
  }
  return Buffer.concat(chunks);
}

const refusal = (url: string): Promise<string> =>
  open(url).then(
    () => 'opened',
    (error: { reason: string }) => error.reason,
  );

const withLogin = ({ url }: RtspServer, login: string): string => url.replace('rtsp://', `rtsp://${login}@`);

async function until(done: () => boolean, most = 3000): Promise<void> {
  for (const end = Date.now() + most; !done() && Date.now() < end; ) await sleep(20);
}

describe('RTSP sources of a tuner', () => {
  it('come inside the connection, are kept by signs of life, and end at the server with their reader', async () => {
    const server = await rtspServer(broadcast('h264'), { timeoutSec: 2 });
    const stream = await open(server.url);
    const bytes = await firstOf(stream);
    expect(bytes.equals(broadcast('h264').subarray(0, bytes.length))).to.equal(true);
    expect(server.methods()).to.deep.equal(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY']);
    expect(server.requests[2]?.url).to.equal(`${server.url}/track1`);
    await sleep(3500);
    expect(server.held.size, 'sessions after their time').to.equal(1);
    expect(server.methods().filter((method) => method === 'GET_PARAMETER').length).to.be.at.least(3);
    stream.stop();
    await until(() => server.held.size === 0);
    expect(server.methods().at(-1)).to.equal('TEARDOWN');
    expect(server.held.size).to.equal(0);
  });

  it('come by UDP where the server sends no other way, in order, each packet once, from the server alone', async () => {
    const swapped = (packets: Buffer[]): Buffer[] =>
      packets.flatMap((_one, at) => [packets[at ^ 1], packets[at]]).filter((one) => one !== undefined);
    const server = await rtspServer(broadcast('h264'), { ways: ['udp'], order: swapped });
    const stream = await open(server.url);
    expect(server.methods()).to.deep.equal(['OPTIONS', 'DESCRIBE', 'SETUP', 'SETUP', 'PLAY']);
    const other = createSocket('udp4').bind(0, '127.0.0.2');
    atEnd(() => other.close());
    await once(other, 'listening');
    const { clientPort = 0 } = [...server.held.values()][0] ?? {};
    const foreign = Buffer.concat([Buffer.from([0x80, 33, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99]), Buffer.alloc(1316, 0xff)]);
    const noise = setInterval(() => other.send(foreign, clientPort, '127.0.0.1'), 5);
    atEnd(() => clearInterval(noise));
    const bytes = await firstOf(stream);
    const whole = broadcast('h264');
    const from = whole.indexOf(bytes.subarray(0, 1316)); // the first packets may be swapped
    expect(from).to.be.within(0, 2 * 1316);
    expect(bytes.equals(whole.subarray(from, from + bytes.length))).to.equal(true);
    stream.stop();
    await until(() => server.held.size === 0);
    expect(server.held.size).to.equal(0);
  });

  it('are opened with a password, which is sent in the clear only where nothing else is offered', async () => {
    const login = { username: 'ał a', password: 'p:ß' };
    const words = 'a%C5%82%20a:p%3A%C3%9F';
    for (const kind of ['digest', 'basic'] as const) {
      for (const qop of [false, true]) {
        const server = await rtspServer(broadcast('h264'), { login: { ...login, kind, qop } });
        expect((await firstOf(await open(withLogin(server, words)), 1316)).length).to.be.at.least(1316);
        const sent = server.requests.map(({ headers }) => headers['authorization'] ?? '').filter(Boolean);
        expect(
          sent.every((one) => one.toLowerCase().startsWith(kind)),
          kind,
        ).to.equal(true);
        expect(server.requests.every(({ url }) => !url.includes('@'))).to.equal(true);
        expect(await refusal(withLogin(server, 'a%C5%82%20a:wrong'))).to.equal('refused');
        expect(await refusal(server.url)).to.equal('refused');
      }
    }
  });

  it('come from SAT>IP servers, whose address is the tuning, and which are busy without a free tuner', async () => {
    const server = await rtspServer(broadcast('h264'), { ways: ['udp'], satIp: true, slots: 1, timeoutSec: 2 });
    const address = `rtsp://127.0.0.1:${server.port}/?src=1&freq=11494&pol=h&msys=dvbs2&sr=22000&pids=0,16,5100`;
    const stream = await open(address);
    expect(server.requests.slice(-2).map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      `SETUP ${address}`,
      `PLAY rtsp://127.0.0.1:${server.port}/stream=7`,
    ]);
    await firstOf(stream, 1316);
    expect(await refusal(address)).to.equal('busy');
    await sleep(2500);
    expect(server.held.size).to.equal(1);
    expect(server.methods()).to.include('OPTIONS');
    stream.stop();
    await until(() => server.held.size === 0);
    expect((await firstOf(await open(address), 1316)).length).to.be.at.least(1316);
  });

  it('are reached at judged addresses alone, and another server gets no password', async () => {
    const canary = await rtspServer(broadcast('h264'), { host: '127.0.0.2' });
    const moved = (to: string) => `302 Moved\r\nLocation: ${to}`;
    const closed = await rtspServer(broadcast('h264'), { answers: { DESCRIBE: moved(canary.url) } });
    const file = await rtspServer(broadcast('h264'), { answers: { DESCRIBE: moved('file:///etc/passwd') } });
    for (const { url } of [canary, closed, file]) expect(await refusal(url), url).to.equal('refused');
    for (const host of ['0x7f.2', '2130706434', '[::ffff:127.0.0.2]', 'ip6-localhost.svc'])
      expect(await refusal(`rtsp://${host}:${canary.port}/tv`), host).to.be.oneOf(['refused', 'unreachable']);
    expect(canary.connections).to.equal(0);

    const target = await rtspServer(broadcast('h264'));
    const first = await rtspServer(broadcast('h264'), {
      login: { username: 'a', password: 'b', kind: 'basic' },
      answers: { SETUP: moved(target.url) },
    });
    expect((await firstOf(await open(withLogin(first, 'a:b')), 1316)).length).to.be.at.least(1316);
    expect(target.requests.filter(({ headers }) => 'authorization' in headers)).to.deep.equal([]);
    const round = await rtspServer(broadcast('h264'), { answers: {} });
    const self = await rtspServer(broadcast('h264'), { answers: { DESCRIBE: moved(round.url) } });
    const again = await rtspServer(broadcast('h264'), { answers: { DESCRIBE: moved(self.url) } });
    expect((await firstOf(await open(again.url), 1316)).length).to.be.at.least(1316);
  });

  it('end at what no server of RTSP sends, within bounds', async () => {
    const big = Buffer.alloc(1 << 20, 'x');
    const hostile: Record<string, (line: string) => Buffer> = {
      'no RTSP': () => Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
      binary: () => Buffer.alloc(4000, 0xff),
      'endless head': (cseq) => Buffer.concat([Buffer.from(`RTSP/1.0 200 OK\r\n${cseq}\r\nX: `), big]),
      'huge body': (cseq) => Buffer.from(`RTSP/1.0 200 OK\r\n${cseq}\r\nContent-Length: 99999999\r\n\r\n`),
      'no body': (cseq) => Buffer.from(`RTSP/1.0 200 OK\r\n${cseq}\r\nContent-Length: -1\r\n\r\n`),
    };
    for (const [name, answer] of Object.entries(hostile)) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => void socket.write(answer(/CSeq: \d+/.exec(String(chunk))?.[0] ?? '')));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      atEnd(() => server.close());
      expect(await refusal(`rtsp://127.0.0.1:${(server.address() as AddressInfo).port}/`), name).to.equal('not-media');
    }
    const described = (sdp: string): string => `200 OK\r\nContent-Length: ${sdp.length}\r\n\r\n${sdp}`;
    const camera = 'v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n';
    const stream = 'm=video 0 RTP/AVP 33\r\na=control:';
    const injected = `v=0\r\n${stream}x RTSP/1.0 GET\r\n`;
    for (const [sdp, reason] of [
      [camera, 'not-media'],
      ['', 'not-media'],
      [injected, 'refused'],
      [`v=0\r\na=control:x y\r\n${stream}track1\r\n`, 'refused'],
    ] as const) {
      const server = await rtspServer(broadcast('h264'), { answers: { DESCRIBE: described(sdp) } });
      expect(await refusal(server.url), sdp).to.equal(reason);
      expect(server.methods()).to.not.include('SETUP');
    }
    const neither = await rtspServer(broadcast('h264'), { ways: [] });
    expect(await refusal(neither.url)).to.equal('refused');
  });

  it('end within seconds at a server that never plays, and take its session back', async () => {
    const server = await rtspServer(broadcast('h264'), { answers: { PLAY: '100 Continue' } });
    const began = performance.now();
    expect(await refusal(server.url)).to.equal('unreachable');
    expect(performance.now() - began).to.be.within(7000, 10_000 * PATIENCE);
    await until(() => server.held.size === 0);
    expect(server.methods().at(-1)).to.equal('TEARDOWN');
    expect(server.held.size).to.equal(0);
  });

  it('leave no session, port or connection where the viewer goes before the server responds', async () => {
    const server = await rtspServer(broadcast('h264'), { ways: ['udp'], slowMs: { SETUP: 200, PLAY: 200 } });
    for (const method of ['SETUP', 'PLAY']) {
      const stop = new AbortController();
      const ways = { send: createOutboundStream(), connect: createOutboundSocket(), signal: stop.signal };
      const opening = openSource({ url: server.url, headers: {} }, { ...ways, networks: { always: ['127.0.0.1/32'] } });
      await until(() => server.methods().at(-1) === method && server.held.size > 0);
      const { clientPort = 0 } = [...server.held.values()][0] ?? {};
      stop.abort();
      const outcome = await opening.then(
        () => 'opened',
        () => 'stopped',
      );
      expect(outcome, method).to.equal('stopped');
      await until(() => server.held.size === 0 && server.open() === 0);
      expect([server.held.size, server.open()], method).to.deep.equal([0, 0]);
      const free = createSocket('udp4').bind(clientPort, '127.0.0.1');
      await once(free, 'listening');
      free.close();
    }
  });

  it('go on after a lost packet of a slow stream, and pass over other datagrams', () => {
    let now = 0;
    const order = new RtpOrder(() => now);
    const packet = (number: number, first = 0x80, sender = 1): Buffer => {
      const head = Buffer.alloc(13, 0);
      head.writeUInt8(first);
      head.writeUInt16BE(number, 2);
      head.writeUInt32BE(sender, 8);
      return head;
    };
    const numbers = (one: Buffer): number[] => order.push(one).map((each) => each.readUInt16BE(2));
    expect(numbers(packet(1))).to.deep.equal([1]);
    expect(numbers(packet(4))).to.deep.equal([]);
    expect(numbers(packet(9, 0x40, 2)), 'another version').to.deep.equal([]);
    expect(numbers(packet(2))).to.deep.equal([2]);
    now = 200;
    expect(numbers(packet(5)), 'waits for 3').to.deep.equal([]);
    now = 300;
    expect(numbers(packet(6))).to.deep.equal([4, 5, 6]);
    expect(numbers(packet(3)), 'too late').to.deep.equal([]);
  });

  it('are the same for ffmpeg, so that the server of these tests speaks as others do', async () => {
    for (const way of ['tcp', 'udp']) {
      const server = await rtspServer(broadcast('h264'), { login: { username: 'a', password: 'b', kind: 'digest' } });
      const input = ['-rtsp_transport', way, '-i', withLogin(server, 'a:b')];
      const args = ['-hide_banner', '-loglevel', 'error', ...input, '-t', '2', '-map', '0:v', '-f', 'framemd5', '-'];
      const { stdout } = await promisify(execFile)('ffmpeg', args, { timeout: 30_000 });
      expect(stdout.split('\n').filter((line) => /^0,/.test(line)).length, way).to.be.at.least(40);
      expect(server.methods()).to.include.members(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY', 'TEARDOWN']);
    }
  });
});
