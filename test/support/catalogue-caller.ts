// A process of its own that queries a catalogue many times, for the rate that all processes keep together.
import { agentOf } from '#platform/agents/index.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { localCatalogues, patience } from './catalogues/local.ts';

const config = readConfig();
const log = createLog('silent', 'caller');
const db = connectDatabase(config.databaseUrl, log, { max: 4 });
const redis = connectRedis(config.redisUrl, log);
const settings = createSettings({ config, db, redis, log, keys: await ringOf(config.keysFile) });
await settings.reload();
const agent = agentOf('wikidata');
const query = localCatalogues({ config, db, redis, settings, log }).queryOf(agent, patience({ limitMs: 60_000 }));
const [mine = '', count = '0'] = process.argv.slice(2);
const all = Array.from({ length: Number(count) }, (_, at) =>
  query({ ...agent.ping, query: { ...agent.ping.query, ids: `Q${mine}${at}` } }),
);
// And one that every process sends.
await Promise.all([...all, query(agent.ping)]);
process.stdout.write('done\n');
process.exit(0);
