import { expect } from 'chai';
import { readConfig } from '#platform/config.ts';
import { connectDatabase, type Db } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { connectRedis } from '#platform/redis.ts';
import { announceSettings, createSettings, type Settings, saveSettings } from '#platform/settings.ts';
import { atEnd, eventually, newDatabase, redisUrl } from '#support/stores.ts';

const log = createLog('silent', 'test');

describe('settings', () => {
  let url: string;
  let redisAt: string;
  let db: Db;
  beforeEach(async () => {
    url = await newDatabase();
    redisAt = await redisUrl();
    const own = connectDatabase(url, log);
    db = own;
    atEnd(() => own.destroy());
  });

  /** Settings as a process with this environment has them. */
  const open = async (environment: Record<string, string> = {}, redisTo = redisAt): Promise<Settings> => {
    const stores = { FOYER_DATABASE_URL: url, FOYER_REDIS_URL: redisTo, FOYER_OBJECTS_URL: 'file:///none' };
    const config = readConfig({ ...stores, FOYER_KEYS_FILE: 'none', ...environment });
    const redis = connectRedis(redisTo, log);
    const settings = createSettings({ config, db, redis, log });
    atEnd(() => {
      settings.stop();
      redis.disconnect();
    });
    await settings.reload();
    return settings;
  };

  it('takes the resource before the saved value, that before the environment, and the default last', async () => {
    expect((await open()).get('server.name')).to.equal('Foyer');
    const environment = { FOYER_SERVER_NAME: 'from environment', FOYER_TRUSTED_PROXIES: '["10.0.0.1/32"]' };
    expect((await open(environment)).get('server.name')).to.equal('from environment');
    await saveSettings(db, { 'server.name': 'saved' }, null);
    const saved = await open(environment);
    expect([saved.get('server.name'), saved.get('network.trustedProxies')]).to.deep.equal(['saved', ['10.0.0.1/32']]);
    const declared = await open({ ...environment, FOYER_SETTINGS: '{"server.name":"declared"}' });
    expect(declared.get('server.name')).to.equal('declared');
  });

  it('passes over a value that is out of bounds to the next source', async () => {
    await db('settings').insert({ key: 'scan.concurrent', value: '3' });
    const settings = await open({ FOYER_SETTINGS: '{"scan.concurrent":99,"no.such":1}' });
    expect(settings.get('scan.concurrent')).to.equal(3);
    await db('settings').where({ key: 'scan.concurrent' }).update({ value: '"many"' });
    await settings.reload();
    expect(settings.get('scan.concurrent')).to.equal(2);
  });

  it('saves nothing that is out of bounds', async () => {
    expect(await saveSettings(db, { 'scan.concurrent': 0 }, null).catch((e: unknown) => e)).to.be.instanceOf(Error);
    expect(await db('settings').select()).to.deep.equal([]);
  });

  it('notifies every process of a change', async () => {
    const redis = connectRedis(redisAt, log);
    atEnd(() => redis.disconnect());
    const listening = async (): Promise<number> => Number((await redis.pubsub('NUMSUB', 'foyer:settings'))[1]);
    const others = await listening();
    const [one, two] = [await open(), await open()];
    await eventually(async () => (await listening()) === others + 2);
    await saveSettings(db, { 'server.notice': 'closed on Monday' }, null);
    await announceSettings(redis);
    await eventually(() => [one, two].every((settings) => settings.get('server.notice') === 'closed on Monday'));
    await saveSettings(db, { 'server.notice': null }, null);
    await announceSettings(redis);
    await eventually(() => one.get('server.notice') === null);
  });

  it('works without Redis from the table', async () => {
    await saveSettings(db, { 'server.name': 'kept' }, null);
    const settings = await open({}, 'redis://127.0.0.1:9');
    expect(settings.get('server.name')).to.equal('kept');
    const unreachable = connectRedis('redis://127.0.0.1:9', log);
    atEnd(() => unreachable.disconnect());
    await announceSettings(unreachable);
  });
});
