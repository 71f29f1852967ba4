// Logos of channels: fetched from the addresses that playlists and guides name, by the worker that may reach those.
import { createHash } from 'node:crypto';
import { foundImages, insertFound, replaceFound } from '#areas/artwork/public.ts';
import { liveNetworks, liveOutbound } from '#areas/live-tv/public.ts';
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
const AT_ONCE = 4;
const LIMIT_MS = 10_000;

interface Wanted {
  channelId: string;
  url: string;
  /** Names the address without its credentials. */
  key: string;
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
  const wanted = await logosWanted(work.db);
  const until = Date.now() + MOST_MS;
  let kept = 0;
  for (let at = 0; at < wanted.length && Date.now() < until; at += AT_ONCE) {
    work.signal.throwIfAborted();
    const some = wanted.slice(at, at + AT_ONCE).map((one) => fetchLogo(fetching, one));
    kept += (await Promise.all(some)).filter(Boolean).length;
  }
  return kept;
}

/** The address of the first source that has one, else that of the guide. A logo that a person removed is not fetched again. */
async function logosWanted(db: Db): Promise<Wanted[]> {
  const { rows } = await db.raw<{ rows: { channelId: string; url: string; known: string[] | null }[] }>(
    `select c.id as "channelId", w.url,
       (select array_agg(m.origin ->> 'logo') from images m where m.owner_kind = 'item' and m.owner_id = c.id and m.kind = 'logo') as known
     from live_channels c,
       lateral (select coalesce(
         (select s.logo_url from live_sources s where s.channel_id = c.id and s.enabled and s.logo_url <> '' order by s.position limit 1),
         (select g.icon_url from guide_channels g where g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id)) as url) w
     where c.enabled and w.url is not null
     order by c.number_order, c.id`,
  );
  return rows
    .map(({ known, ...one }) => ({ ...one, known, key: createHash('sha256').update(one.url).digest('hex') }))
    .filter(({ known, key }) => !known?.includes(key))
    .slice(0, MOST);
}

/** A fault of a store or of the parser fails no scan. */
async function fetchLogo(fetching: Fetching, wanted: Wanted): Promise<boolean> {
  const { work } = fetching;
  try {
    return await keepLogo(fetching, wanted);
  } catch (error) {
    work.signal.throwIfAborted();
    work.log.warn({ err: error, channel: wanted.channelId }, 'the logo of a channel was not kept');
    return false;
  }
}

async function keepLogo({ work, pictures, outbound, settling }: Fetching, wanted: Wanted): Promise<boolean> {
  const bytes = await download(work, outbound, wanted.url);
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

/** Undefined for an address that is closed or does not answer with a picture. */
async function download(work: Work, outbound: Outbound, url: string): Promise<Buffer | undefined> {
  try {
    const answer = await outbound(url, {
      ...liveNetworks(work),
      ...{ maxRedirects: 4, maxBytes: ARTWORK_BYTES, timeoutMs: LIMIT_MS, signal: work.signal },
      headers: { accept: 'image/*' },
    });
    if (answer.status === 200) return answer.body;
  } catch {
    work.signal.throwIfAborted();
  }
  work.log.debug('the logo of a channel was not sent'); // its address may hold a credential
  return undefined;
}
