// Logos of channels: fetched from the addresses that playlists and guides name, by the worker that may reach those.
import { createHash, randomUUID } from 'node:crypto';
import { foundImages, insertFound, replaceFound } from '#areas/artwork/public.ts';
import { liveNetworks, liveOutbound, maskedAddress, requestOf } from '#areas/live-tv/public.ts';
import { ARTWORK_BYTES } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import type { Outbound } from '#platform/outbound.ts';
import { createPictures, type Pictures } from '#platform/pictures.ts';
import { accepted } from '../artwork/fetch.ts';
import { Settling } from '../artwork/settle.ts';
import type { Work } from '../work.ts';

/** Of one run; the next scan or guide fetches more. */
const MOST = 500;
const MOST_MS = 300_000;
const AT_ONCE = 8;
/** Of one host. */
const HOST_AT_ONCE = 2;
const LIMIT_MS = 10_000;
/** Logos in a row that a host does not send at all; then it has no turn in this run. */
const MOST_SILENT = 3;
/** One logo is fetched and stored by then. */
const CLAIM_MS = 60_000;
const LET_GO = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
/** Members of a query that say which picture is meant. */
const PLAIN = new Set(['id', 'channel', 'ch', 'v', 'version', 'size', 'width', 'height', 'w', 'h', 'type', 'format']);

interface Wanted {
  channelId: string;
  url: string;
  /** Names the address without its credentials, which a provider changes at will. */
  key: string;
}

interface Host {
  left: IterableIterator<Wanted>;
  silent: number;
}

interface Fetching {
  work: Work;
  pictures: Pictures;
  outbound: Outbound;
  settling: Settling;
}

/** Fetches the logos that enabled channels lack. One that does not come is tried again by the next run. */
export async function fetchLogos(work: Work, outbound: Outbound = liveOutbound(work.config)): Promise<number> {
  if (work.settings.get('network.offline')) return 0;
  const pictures = createPictures(work.config.parserUrl);
  const fetching = { work, pictures, outbound, settling: new Settling(work) };
  return fetchAll(fetching, await logosWanted(work.db));
}

/** Some hosts at a time, so that a slow one delays its own logos alone. */
async function fetchAll(fetching: Fetching, wanted: readonly Wanted[]): Promise<number> {
  const { signal } = fetching.work;
  const until = Date.now() + MOST_MS;
  const hosts = [...Map.groupBy(wanted, ({ url }) => new URL(url).host).values()];
  const lanes = hosts
    .map((list): Host => ({ left: list.values(), silent: 0 }))
    .flatMap((host) => Array.from({ length: HOST_AT_ONCE }, () => host))
    .values();
  let kept = 0;
  const work = async (): Promise<void> => {
    for (const host of lanes)
      for (const one of host.left) {
        signal.throwIfAborted();
        if (Date.now() > until || host.silent >= MOST_SILENT) break;
        if (await fetchLogo(fetching, one, host)) kept += 1;
      }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return kept;
}

/** The address of the first source that has one, else that of the guide. A logo that a person removed is not fetched again. */
async function logosWanted(db: Db, channelId: string | null = null): Promise<Wanted[]> {
  const { rows } = await db.raw<{ rows: { channelId: string; url: string; known: string[] | null }[] }>(
    `select c.id as "channelId", w.url,
       (select array_agg(m.origin ->> 'logo') from images m where m.owner_kind = 'item' and m.owner_id = c.id and m.kind = 'logo') as known
     from live_channels c,
       lateral (select coalesce(
         (select s.logo_url from live_sources s where s.channel_id = c.id and s.enabled and s.logo_url <> '' order by s.position limit 1),
         (select g.icon_url from guide_channels g where g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id)) as url) w
     where c.enabled and w.url is not null and (?::uuid is null or c.id = ?::uuid)
     order by c.number_order, c.id`,
    [channelId, channelId],
  );
  return rows
    .filter(({ url }) => URL.canParse(url))
    .map((one) => ({ ...one, key: createHash('sha256').update(maskedAddress(one.url, PLAIN)).digest('hex') }))
    .filter(({ known, key }) => !known?.includes(key))
    .slice(0, MOST);
}

/** A fault of a store or of the parser fails no scan. */
async function fetchLogo(fetching: Fetching, wanted: Wanted, host: Host): Promise<boolean> {
  const { work } = fetching;
  const claim = `live:logo:${wanted.channelId}`;
  const mine = randomUUID();
  try {
    if (!(await work.redis.set(claim, mine, 'PX', CLAIM_MS, 'NX'))) return false; // another worker fetches it
    const [still] = await logosWanted(work.db, wanted.channelId);
    return still?.key === wanted.key && (await keepLogo(fetching, wanted, host));
  } catch (error) {
    work.signal.throwIfAborted();
    work.log.warn({ err: error, channel: wanted.channelId }, 'the logo of a channel was not kept');
    return false;
  } finally {
    await work.redis.eval(LET_GO, 1, claim, mine).catch(() => 0);
  }
}

async function keepLogo(
  { work, pictures, outbound, settling }: Fetching,
  wanted: Wanted,
  host: Host,
): Promise<boolean> {
  const answer = await download(work, outbound, wanted.url);
  host.silent = answer === 'silent' ? host.silent + 1 : 0;
  const bytes = answer === 'silent' ? undefined : answer;
  const taken = bytes && (await accepted({ work, pictures }, bytes));
  if (!taken) return false;
  const { channelId, key } = wanted;
  const found = { source: 'agent', kind: 'logo', origin: { agent: 'live', logo: key }, taken } as const;
  await work.db.transaction(async (db) => {
    const rows = await foundImages(db, channelId, ['agent']);
    const present = rows.find(({ kind, discarded }) => kind === 'logo' && !discarded);
    if (present) await replaceFound(db, present, found);
    else await insertFound(db, channelId, found);
    await settling.settle(db, [channelId]);
  });
  return true;
}

/** Undefined for an answer without a picture; `silent` for a host that is closed or does not answer in time. */
async function download(work: Work, outbound: Outbound, address: string): Promise<Buffer | 'silent' | undefined> {
  const { url, headers } = requestOf(address);
  const answer = await outbound(url, {
    ...liveNetworks(work),
    ...{ maxRedirects: 4, maxBytes: ARTWORK_BYTES, timeoutMs: LIMIT_MS, signal: work.signal },
    headers: { ...headers, accept: 'image/*' },
  }).catch(() => undefined);
  work.signal.throwIfAborted();
  if (answer?.status === 200) return answer.body;
  work.log.debug('the logo of a channel was not sent'); // its address may hold a credential
  return answer ? undefined : 'silent';
}
