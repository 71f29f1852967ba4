// A database that hangs: it takes connections and bytes, and answers nothing.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { connectDatabase, databaseUnavailable, disconnectDatabase, named, pipelineReads } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { newDatabase } from '#support/stores.ts';

const log = createLog('silent', 'test');

/** Stands between a client and the database, and holds back all bytes while it `hangs`. */
class Stall {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  url = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#server = createServer((near) => {
      const far = connect(Number(port), hostname);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => near.destroy() && far.destroy());
        if (this.#hangs) socket.pause();
      }
    });
  }

  #hangs = false;

  static async before(url: string): Promise<Stall> {
    const stall = new Stall(url);
    await once(stall.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = stall.#server.address() as { port: number };
    stall.url = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).toString();
    return stall;
  }

  hang(): void {
    this.#hangs = true;
    for (const socket of this.#sockets) socket.pause();
  }

  goOn(): void {
    this.#hangs = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a database that hangs', function () {
  this.timeout(40_000);
  let stall: Stall;
  before(async () => {
    stall = await Stall.before(await newDatabase());
  });
  after(() => stall.close());

  it('fails waiting queries, by either way of reading, as a lost connection does, and works again after', async () => {
    const db = connectDatabase(stall.url, log, { impatient: true });
    pipelineReads(db);
    const short = { name: undefined, text: 'select 1 as one', values: [], short: true };
    await Promise.all([db.raw('select 1'), named(db, short)]); // both ways have a connection
    const begun = Promise.withResolvers<void>();
    const writing = failure(
      db.transaction(async (inside) => {
        await inside.raw('select 1');
        begun.resolve();
        await new Promise((done) => setTimeout(done, 50));
        await inside.raw('select 1'); // knex rolls back on the connection that was cut, and reports only that
      }),
    );
    await begun.promise;
    stall.hang();
    const errors = await Promise.all([
      writing,
      failure(db.raw('select 1')),
      failure(named(db, short)),
      failure(db.transaction((inside) => inside.raw('select 1'))), // a connection that is not there yet
    ]);
    for (const error of errors) expect(databaseUnavailable(error), String(error)).to.equal(true);
    stall.goOn();
    expect(await named(db, short)).to.deep.equal([{ one: 1 }]);
    expect((await db.raw<{ rows: object[] }>('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await disconnectDatabase(db);
  });

  it('is not one that is slow', async () => {
    const db = connectDatabase(stall.url, log, { impatient: true });
    const { rows } = await db.raw<{ rows: { backend: number }[] }>('select pg_backend_pid() as backend, pg_sleep(6)');
    const again = await db.raw<{ rows: { backend: number }[] }>('select pg_backend_pid() as backend');
    expect(again.rows[0]?.backend, 'the connection stayed').to.equal(rows[0]?.backend);
    await disconnectDatabase(db);
  });
});
