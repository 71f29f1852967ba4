/**
 * The guide of television (targets: reading 0.30 of saxes in MB a CPU-second and 64 MB more memory at most; 3 million programmes in 300 s;
 * an unchanged guide 0.50 of its first load; grid p95 100 ms and search p95 150 ms, also while a guide loads; the plan of 500
 * recordings and 100 rules in 5 s). `node hack/bench/guide.ts [channels] [days]` prints a table.
 */
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { readGuide } from '#workers/live/guide/read-guide.ts';
import { scheduleRecordings } from '#workers/live/schedule/schedule.ts';
import { newGuidePlace, xmltvTime } from '../../test/workers/live/support.ts';
import { alternate, HEADER, machine, median, row } from './measure.ts';

const CHANNELS = Number(process.argv[2] ?? 5000);
const DAYS = Number(process.argv[3] ?? 14);
const MINUTES = 33;
const A_DAY = Math.floor((24 * 60) / MINUTES);
const PROGRAMMES = CHANNELS * DAYS * A_DAY;
const TITLES = 40_000;
const RECORDINGS = 500;
const RULES = 100;
const REQUESTS = 60;
const DAY_MS = 86_400_000;
const MIB = 2 ** 20;

const path = join(temporaryFolder('bench-guide'), 'guide.xml');
/** As a source serves it: a guide of this size is over the limit of a download without compression. */
const packed = `${path}.gz`;
const text =
  'The household of the harbour master has a visitor from the islands, who knows more than she says about the ship that came in without a crew.';

/** `edition` changes one programme in twenty. */
async function writeGuide(edition: number): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 1 << 20 });
  const out = async (part: string): Promise<void> => {
    if (!file.write(part)) await new Promise((done) => file.once('drain', () => done(undefined)));
  };
  await out('<?xml version="1.0" encoding="UTF-8"?>\n<tv>\n');
  for (let c = 0; c < CHANNELS; c++)
    await out(`<channel id="c${c}.example"><display-name>Channel ${c}</display-name></channel>\n`);
  const since = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (let c = 0; c < CHANNELS; c++) {
    const lines: string[] = [];
    for (let n = 0; n < DAYS * A_DAY; n++) {
      const [start, stop] = [n, n + 1].map((at) => xmltvTime(new Date(since + at * MINUTES * 60_000)));
      const title = (c * 7919 + n * 31 + (n % 20 === 0 ? edition : 0)) % TITLES;
      lines.push(
        `<programme start="${start}" stop="${stop}" channel="c${c}.example"><title lang="en">Story ${title} of the ${title % 97} harbours</title>` +
          `<sub-title>Part ${n}</sub-title><desc>${text} ${text}</desc><category>Series</category>` +
          `<episode-num system="xmltv_ns">${n % 12}.${n % 24}.</episode-num></programme>\n`,
      );
    }
    await out(lines.join(''));
  }
  file.end('</tv>\n');
  await finished(file);
  await pipeline(createReadStream(path), createGzip({ level: 1 }), createWriteStream(packed));
}

const cpu = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};
const megabytes = (): number => statSync(path).size / MIB;

let mostMemory = 0;
/** MB a CPU-second of the reader, which runs in a thread of this process. */
async function ours(): Promise<number> {
  const before = process.memoryUsage().rss;
  const watch = setInterval(() => {
    mostMemory = Math.max(mostMemory, process.memoryUsage().rss - before);
  }, 20);
  const began = process.cpuUsage();
  const span = { fromMs: Date.now() - 2 * DAY_MS, toMs: Date.now() + 21 * DAY_MS };
  for await (const _lines of readGuide({ path, shiftMs: 0, ...span }, new AbortController().signal));
  clearInterval(watch);
  return megabytes() / cpu(began);
}

async function saxes(): Promise<number> {
  const began = process.cpuUsage();
  const parser = new SaxesParser({ position: false });
  let count = 0;
  parser.on('opentag', () => (count += 1));
  parser.on('text', () => (count += 1));
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) parser.write(String(chunk));
  parser.close();
  return megabytes() / cpu(began);
}

const say = (what: string, found: string, target: string): void => console.log(`| ${what} | ${found} | ${target} |`);
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;

await writeGuide(0);
console.log(`\nGuide of ${CHANNELS} channels by ${DAYS} days, ${PROGRAMMES} programmes: ${machine()}\n\n${HEADER}`);
console.log(row({ name: 'reading', unit: 'MB/CPU-s', target: '≥ 0.30' }, await alternate(3, ours, saxes)));

const place = await newGuidePlace();
const { db } = place.api.deps;
await db.raw('set statement_timeout = 0');
const { rows: made } = await db.raw(
  `insert into items (id, library_id, type, identity_key, title, sort_title)
   select gen_random_uuid(), ?, 'channel', 'c' || n, 'Channel ' || n, 'channel ' || n from generate_series(0, ?) n returning id, identity_key`,
  [place.library.id, CHANNELS - 1],
);
const channels = (made as { id: string; identity_key: string }[]).map(({ id, identity_key: key }) => {
  const number = Number(key.slice(1));
  return {
    id,
    library_id: place.library.id,
    number: String(number),
    number_order: number * 1000,
    name: `Channel ${number}`,
  };
});
await db.batchInsert('live_channels', channels, 1000);

console.log('\n| what | found | target |\n|---|---|---|');
say('memory of a reading, at most', `+${Math.round(mostMemory / MIB)} MB`, '+64 MB');
Object.assign(place.served, { body: '', status: 200 });
place.served.stream = () => createReadStream(packed);
let source = '';
const first = await timed(async () => {
  source = await place.source({ days: Math.min(21, DAYS + 1) });
});
const stored = Number((await db('guide_programs').count('* as n').first())?.n ?? 0);
if (stored === 0) throw new Error('the guide was refused');
say(
  `load of ${stored}`,
  `${(first / 1000).toFixed(1)} s, ${((first / 1000) * (3e6 / stored)).toFixed(0)} s for 3 million`,
  '300 s',
);
const again = await timed(() => place.refresh(source));
say('the same again, against the first', (again / first).toFixed(2), '0.50');
await db.raw('vacuum analyze guide_programs');

const grid = (): Promise<number> => {
  const from = new Date(Date.now() + Math.floor(Math.random() * (DAYS - 1)) * DAY_MS).toISOString();
  const at = Math.floor(Math.random() * Math.max(1, CHANNELS - 50));
  const channelIds = channels
    .slice(at, at + 50)
    .map(({ id }) => id)
    .join(',');
  const to = new Date(Date.parse(from) + 6 * 3_600_000).toISOString();
  return timed(() => place.admin.getLiveGuide({ query: { from, to, channelIds, limit: 50 } } as never));
};
const search = (): Promise<number> =>
  timed(() => place.admin.listLivePrograms({ query: { q: `story ${Math.floor(Math.random() * TITLES)}` } } as never));
const now = (): Promise<number> => timed(() => place.admin.listLiveChannels({ query: { limit: 50 } } as never));

async function times(request: () => Promise<number>, count = REQUESTS): Promise<string> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push(await request());
  return `${median(found).toFixed(0)} / ${p95(found).toFixed(0)} ms`;
}
say('grid of 50 by 6 hours, median / p95', await times(grid), 'p95 100 ms');
say('search, median / p95', await times(search), 'p95 150 ms');
say('50 channels with now and next, median / p95', await times(now), '–');
await writeGuide(1);
const loading = place.refresh(source);
say('grid while a guide loads', await times(grid), 'p95 100 ms');
say('search while a guide loads', await times(search), 'p95 150 ms');
await loading;

const { rows: account } = await db.raw(`select id from accounts where role = 'admin' limit 1`);
const accountId = (account as { id: string }[])[0]?.id ?? '';
await db.raw(
  `insert into recording_rules (id, account_id, name, match, start_pad_ms, end_pad_ms, library_id, max_upcoming)
   select gen_random_uuid(), ?, 'Rule ' || n, 'title:contains:Story ' || (1000 + n * 13) || ' of', 60000, 180000, ?, 5 from generate_series(1, ?) n`,
  [accountId, place.library.id, RULES],
);
await db.raw(
  `insert into live_tuners (id, library_id, name, kind, slot_count, state) select gen_random_uuid(), ?, 'Tuner ' || n, 'hdhomerun', 4, 'ready'
     from generate_series(1, 4) n`,
  [place.library.id],
);
await db.raw(
  `insert into live_sources (id, channel_id, tuner_id, remote_key, remote_number, remote_name, address)
   select gen_random_uuid(), c.id, t.id, c.number || t.name, c.number, c.name, '' from live_channels c cross join live_tuners t`,
);
await db.raw(
  `insert into recordings (id, channel_id, channel_name, program_id, account_id, title, start_at, end_at, start_pad_ms, end_pad_ms, library_id)
   select gen_random_uuid(), c.id, c.name, p.id, ?, 'Story', p.start_at, p.end_at, 60000, 180000, ?
     from (select * from guide_programs where start_at > now() + interval '1 hour' order by id limit ?) p
     join guide_channels g on g.id = p.channel join live_channels c on c.guide_channel_id = g.guide_id`,
  [accountId, place.library.id, RECORDINGS],
);
await db.raw('analyze recordings, live_sources, live_channels, recording_rules');
const plan = (): Promise<number> => timed(() => scheduleRecordings({}, place.work()));
await plan();
const planned: number[] = [];
for (let i = 0; i < 3; i++) {
  await db.raw(
    `update recordings set priority = ? where id in (select id from recordings where rule_id is null limit 1)`,
    [i],
  );
  planned.push(await plan());
}
const open = await db('recordings').whereIn('state', ['scheduled', 'conflict']).count('* as n').first();
say(
  `plan of ${open?.n} recordings with ${RULES} rules over ${stored}`,
  `${(median(planned) / 1000).toFixed(1)} s`,
  '5 s',
);
await endAll();
process.exit(0);
