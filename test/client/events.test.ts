// Events through the typed client, across lost connections.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { emit } from '#platform/outbox.ts';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { apiKey, createClient, FoyerError, type FoyerEvent, type Reset } from '../../api/client/index.ts';

/** A line to the server that can be cut. */
class Line {
  readonly #sockets = new Set<Socket>();
  readonly server: Server;
  opened = 0;
  constructor(port: number) {
    this.server = createServer((near) => {
      this.opened += 1;
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => this.#sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
  }
  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

describe('events of the typed client', () => {
  let api: Api;
  let relay: Relay;
  let line: Line;
  let url: string;
  let key: string;
  before(async () => {
    api = await startApi();
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    const owner = await api.given.owner();
    key = (await api.given.key(owner, ['settings:manage', 'library:view'])).headers['authorization']?.slice(7) ?? '';
    line = new Line(Number(new URL(api.url).port));
    url = await line.listen();
    atEnd(() => {
      line.cut();
      line.server.close();
    });
  });
  after(() => relay.stop());
  const say = (name: string): Promise<void> => emit(api.deps.db, 'settings.changed', { payload: { keys: [name] } });

  it('come each once and in order, however often the line is cut between and amid them', async () => {
    const client = createClient({ server: url, credential: apiKey(key), clientId: 'typed-events-0001' });
    const leaving = new AbortController();
    const got: string[] = [];
    const reading = (async () => {
      for await (const event of client.events({ types: ['settings.changed'], signal: leaving.signal }))
        if (event.event === 'settings.changed') got.push(...event.payload.keys);
    })();
    await eventually(() => line.opened === 1);
    await eventually(async () => {
      if (got.length === 0) await say('first');
      return got.length > 0;
    });
    const printed: string[] = [];
    for (let i = 0; i < 12; i++) {
      const name = `name.${i}`;
      printed.push(name);
      if (i % 4 === 1) line.cut();
      await say(name);
      if (i % 4 === 3) await eventually(() => got.includes(name));
    }
    await eventually(() => got.includes('name.11'));
    expect(got.filter((name) => name.startsWith('name.'))).to.deep.equal(printed);
    expect(line.opened).to.be.at.least(4);
    leaving.abort();
    await reading;
  });

  it('continue behind the given id, and report when that is not known any more', async () => {
    const client = createClient({ server: url, credential: apiKey(key) });
    const leaving = new AbortController();
    const first: (FoyerEvent | Reset)[] = [];
    for await (const event of client.events({ lastEventId: 'of another server', signal: leaving.signal })) {
      first.push(event);
      break;
    }
    expect(first[0]).to.deep.include({ event: 'stream.reset' });
    leaving.abort();
  });

  it('end with the refusal when the server takes this client no more', async () => {
    const client = createClient({ server: url, credential: apiKey('foyer_revoked') });
    const refused = await client
      .events()
      .next()
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(FoyerError).and.include({ status: 401 });
  });
});
