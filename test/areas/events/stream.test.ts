import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Reader, readerFor } from '#areas/events/reader.ts';
import { EventStream } from '#areas/events/stream.ts';
import { EventStreams } from '#areas/events/streams.ts';
import { identifyAgain } from '#identity/credentials.ts';
import { startApi } from '#support/api.ts';
import { atEnd, eventually } from '#support/stores.ts';

const MINUTE_MS = 60_000;
const HALF_A_MINUTE_MS = 30_000;

/** A stream and the connection that it ends at, which reads nothing until it is resumed. */
async function paused(reader = {} as Reader): Promise<{ stream: EventStream; client: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  client.pause();
  atEnd(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { stream: new EventStream(socket, { reader, types: undefined, slot: 's' }), client };
}

async function rest(client: Socket): Promise<string> {
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  client.resume();
  await once(client, 'close');
  return text;
}

/** More than the buffers of both ends of a connection hold. */
function fill(stream: EventStream): void {
  for (let i = 0; i < 200 && stream.socket.writableLength < 1 << 19; i += 1) stream.write('x'.repeat(1 << 16));
}

describe('an open stream', function () {
  this.timeout(60_000);

  it('is stuck when its reader takes nothing for so long, though more was written meanwhile', async () => {
    const { stream } = await paused();
    fill(stream);
    expect(stream.isStuck(MINUTE_MS, HALF_A_MINUTE_MS)).to.equal(false);
    stream.write(':\n\n');
    expect(stream.isStuck(MINUTE_MS + 20_000, HALF_A_MINUTE_MS)).to.equal(false);
    stream.write(Buffer.from('data: ö\n\n'));
    expect(stream.isStuck(MINUTE_MS + 40_000, HALF_A_MINUTE_MS)).to.equal(true);
  });

  it('is not stuck while its reader takes the bytes', async () => {
    const { stream, client } = await paused();
    fill(stream);
    expect(stream.isStuck(MINUTE_MS, HALF_A_MINUTE_MS)).to.equal(false);
    const drained = once(stream.socket, 'drain');
    client.resume();
    await drained;
    expect(stream.isStuck(MINUTE_MS + 40_000, HALF_A_MINUTE_MS)).to.equal(false);
  });

  it('is cut with more than a megabyte or a thousand blocks waiting', async () => {
    for (const block of ['x'.repeat(1 << 14), 'x']) {
      const { stream } = await paused();
      fill(stream);
      for (let i = 0; i < 1001 && stream.open; i += 1) stream.write(block);
      expect(stream.open).to.equal(false);
    }
  });

  it('receives a time to reconnect when the process stops, late readers too, and the process waits for no reader', async () => {
    const { deps, given } = await startApi();
    const signedIn = await identifyAgain(deps.db, await given.admin());
    if (!signedIn) throw new Error('no session exists');
    const reader = await readerFor(deps.db, signedIn.who); // their rights may be read while the test runs
    const stop = new AbortController();
    const streams = new EventStreams({ ...deps, draining: stop.signal });
    await streams.start();
    const [reads, waits, late] = [await paused(reader), await paused(reader), await paused(reader)];
    fill(waits.stream);
    streams.add(reads.stream);
    streams.add(waits.stream);
    stop.abort();
    streams.add(late.stream);
    for (const text of await Promise.all([reads, late].map(({ client }) => rest(client)))) {
      const [, wait] = /^retry: (\d+)\n\n$/.exec(text) ?? [];
      expect(Number(wait)).to.be.within(500, 4500);
    }
    await eventually(() => streams.size === 0 && waits.stream.socket.destroyed, 20_000);
  });
});
