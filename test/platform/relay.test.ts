import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { connectDatabase, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { emit } from '#platform/outbox.ts';
import { connectRedis, type Redis } from '#platform/redis.ts';
import { EVENT_STREAM, type Relay, startRelay } from '#platform/relay.ts';
import { atEnd, eventually, newDatabase, redisUrl, startRedis } from '#support/stores.ts';

const log = createLog('silent', 'test');

interface Sent {
  number: number;
  id: string;
  event: string;
  payload: { keys: string[] };
}

describe('event relay', () => {
  let url: string;
  let db: Db;
  const relays: Relay[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    url = await newDatabase();
    const own = connectDatabase(url, log, { max: 8 });
    db = own;
    atEnd(() => own.destroy());
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  });

  const connect = (to: string): Redis => {
    const redis = connectRedis(to, log);
    atEnd(() => redis.disconnect());
    return redis;
  };
  const relay = (redis: Redis): void => void relays.push(startRelay(url, redis, log));
  const say = (word: string): Promise<void> =>
    db.transaction((transaction) => emit(transaction, 'settings.changed', { payload: { keys: [word] } }));
  const sent = (): Promise<Sent[]> => db('events').orderBy('number').select<Sent[]>();
  const sentAll = (count: number): Promise<Sent[]> =>
    eventually(async () => {
      const rows = await sent();
      return rows.length >= count && rows;
    });
  const streamed = async (redis: Redis): Promise<{ number: number; id: string }[]> =>
    (await redis.xrange(EVENT_STREAM, '-', '+')).map(([number, fields]) => ({
      number: Number(number.split('-')[0]),
      id: (JSON.parse(fields[1] ?? '') as { id: string }).id,
    }));
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

  it('publishes committed events, in order and numbered from one, and none that was rolled back', async () => {
    const redis = connect(await redisUrl());
    await redis.flushdb();
    for (const word of ['a', 'b', 'c']) await say(word);
    relay(redis); // it finds three at once
    await db
      .transaction(async (transaction) => {
        await emit(transaction, 'settings.changed', { payload: { keys: ['never'] } });
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await say('d');
    const rows = await sentAll(4);
    expect(rows.map((row) => row.number)).to.deep.equal(numbers(4));
    expect(rows.map((row) => row.payload.keys[0])).to.deep.equal(['a', 'b', 'c', 'd']);
    const stream = await eventually(async () => {
      const found = await streamed(redis);
      return found.length === 4 && found;
    });
    expect(stream).to.deep.equal(rows.map(({ number, id }) => ({ number, id })));
    expect(await db('outbox').select()).to.deep.equal([]);
  });

  it('rejects an event that does not match its table', async () => {
    const wrong = { payload: { keys: 'no list' } as never };
    expect(await emit(db, 'settings.changed', wrong).catch((e: unknown) => e)).to.be.instanceOf(Error);
    expect(await db('outbox').select()).to.deep.equal([]);
  });

  it('sends each event once and leaves no number out, with relays that race and one of them killed', async () => {
    const redis = await startRedis();
    const program = `const { startRelay } = await import('#platform/relay.ts');
      const { connectRedis } = await import('#platform/redis.ts'); const { createLog } = await import('#platform/log.ts');
      const log = createLog('silent', 'relay'); startRelay(process.env.DB, connectRedis(process.env.REDIS, log), log);
      console.log('up');`;
    const start = async (): Promise<ChildProcess> => {
      const env = { ...process.env, DB: url, REDIS: redis.url };
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      await once(child.stdout, 'data');
      return child;
    };
    const first = await start();
    await say('first');
    await sentAll(1); // the first holds the lock
    await start();
    relay(connect(redis.url));
    let emitted = 1;
    const keepSaying = async (until: number): Promise<void> => {
      while (emitted < until) {
        const word = newId();
        emitted += 1;
        await say(word);
      }
    };
    await Promise.all([1, 2, 3, 4].map(() => keepSaying(150)));
    const saying = Promise.all([1, 2, 3, 4].map(() => keepSaying(400)));
    first.kill('SIGKILL');
    await saying;
    const rows = await sentAll(emitted);
    expect(rows.map((row) => row.number)).to.deep.equal(numbers(emitted));
    expect(new Set(rows.map((row) => row.id)).size).to.equal(emitted);
    expect(new Set(rows.map((row) => row.payload.keys[0])).size).to.equal(emitted);
    const reader = connect(redis.url);
    const stream = await eventually(async () => {
      const found = await streamed(reader);
      return found.at(-1)?.number === emitted && found;
    });
    // Events that the killed one had numbered and not yet streamed are in the table only; nothing is twice or out of
    // order.
    const known = new Map(rows.map((row) => [row.number, row.id]));
    for (const { number, id } of stream) expect(known.get(number)).to.equal(id);
    expect(stream.map((one) => one.number)).to.deep.equal(
      [...new Set(stream.map((one) => one.number))].sort((a, b) => a - b),
    );
  });

  it('continues without Redis, and streams again once it is back', async () => {
    const redis = connect('redis://127.0.0.1:9');
    relay(redis);
    await say('a');
    await say('b');
    expect((await sentAll(2)).map((row) => row.number)).to.deep.equal([1, 2]);
    await relays.pop()?.stop();
    const back = connect(await redisUrl());
    await back.flushdb();
    relay(back);
    await say('c');
    await sentAll(3);
    expect(
      (await eventually(async () => (await streamed(back)).length > 0 && streamed(back))).map((one) => one.number),
    ).to.deep.equal([3]);
  });

  it('comes back after its connection was cut', async () => {
    relay(connect(await redisUrl()));
    await say('a');
    await sentAll(1);
    await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'foyer-relay' and datname = current_database()`);
    await say('b');
    expect((await sentAll(2)).map((row) => row.payload.keys[0])).to.deep.equal(['a', 'b']);
  });
});
