// Takes a guide over: the lines of a reading stand in a temporary table until they are compared with the stored programmes.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from } from 'pg-copy-streams';
import { type Db, withConnection } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** Class of the advisory lock under which one guide is taken over and titles are deleted. */
const LOCK = 4_712_064;
/** A programme keeps its id when it moves by at most this. */
const MOVES = `interval '3 hours'`;

/** Until the end of the transaction no other guide is taken over and no title is deleted. Another guide may take minutes. */
export async function lockGuides(db: Db): Promise<void> {
  await db.raw('set local statement_timeout = 0');
  await db.raw('select pg_advisory_xact_lock(?)', [LOCK]);
}

/** Fills the temporary table of the transaction, which holds the lock, with lines of COPY. */
export async function copyIncoming(db: Db, columns: readonly string[], lines: AsyncIterable<string>): Promise<void> {
  await db.raw(`
    create temp table guide_incoming (
      n int not null, id uuid not null, guide_id text not null, start_at timestamptz not null, end_at timestamptz,
      title text not null, episode_title text, description text, kind text not null, categories text[] not null,
      season_number int, episode_number int, episode_key text, series_key text, is_new boolean, is_live boolean,
      is_repeat boolean, is_premiere boolean, year int, original_air_date date, age_rating text, age_years int,
      star_rating real, hd boolean, credits jsonb, hash bytea
    ) on commit drop`);
  await withConnection(db, async (client) => {
    const copy = client.query(from(`copy guide_incoming (${columns.join(', ')}) from stdin`));
    await pipeline(Readable.from(lines, { objectMode: false, highWaterMark: 1 << 18 }), copy);
  });
}

export interface ListedChannel {
  id: string;
  names: string[];
  number?: string;
  iconUrl?: string;
}

/** Writes the channels of a guide; those that it no longer names stay until their programmes are deleted. */
export async function putGuideChannels(db: Db, sourceId: string, channels: readonly ListedChannel[]): Promise<void> {
  await db.raw(
    `with given as (select * from jsonb_to_recordset(?::jsonb) as g(id text, names jsonb, number text, "iconUrl" text)),
       gone as (update guide_channels set listed = false, programs = 0
         where source_id = ?::uuid and listed and guide_id not in (select id from given))
     insert into guide_channels as c (source_id, guide_id, names, number, icon_url)
     select ?::uuid, id, array(select jsonb_array_elements_text(names)), number, "iconUrl" from given
     on conflict (source_id, guide_id) do update
       set names = excluded.names, number = excluded.number, icon_url = excluded.icon_url, listed = true
       where (c.names, c.number, c.icon_url, c.listed)
         is distinct from (excluded.names, excluded.number, excluded.icon_url, true)`,
    [JSON.stringify(channels), sourceId, sourceId],
  );
}

/** Columns that are compared by the hash. */
const ABOUT = [
  ...['description', 'kind', 'categories', 'season_number', 'episode_number', 'episode_key', 'series_key', 'is_new'],
  ...['is_live', 'is_repeat', 'is_premiere', 'year', 'original_air_date', 'age_rating', 'age_years', 'star_rating'],
  ...['hd', 'credits', 'hash'],
];

/**
 * One row for each channel and start, the first in the guide. A missing end is the start of the next one, at most an hour later
 * if none follows; an end behind the next start is cut there.
 */
const PLACED = `
  create temp table guide_new on commit drop as
  select i.n, i.id, i.channel, i.start_at,
         least(coalesce(i.end_at, i.next_at, i.start_at + interval '1 hour'), i.next_at, i.start_at + interval '24 hours') as end_at,
         t.id as title_id, e.id as episode_title_id, ${ABOUT.map((name) => `i.${name}`).join(', ')}
    from (select f.*, lead(f.start_at) over (partition by f.channel order by f.start_at) as next_at
            from (select distinct on (c.id, g.start_at) g.*, c.id as channel
                    from guide_incoming g join guide_channels c on c.source_id = ? and c.guide_id = g.guide_id
                   order by c.id, g.start_at, g.n) f) i
    join guide_titles t on t.text = i.title
    left join guide_titles e on e.text = i.episode_title`;

/** What the new guide decides: all to come, and the past since its first programme. Older ones stay until they are deleted by their age. */
const OLD = `
  create temp table guide_old on commit drop as
  select p.id, p.channel, p.start_at, p.end_at, p.title, p.episode_title, p.hash
    from guide_programs p
    join guide_channels c on c.id = p.channel
    left join (select channel, min(start_at) as since from guide_new group by channel) n on n.channel = p.channel
   where c.source_id = ? and p.end_at > least(n.since, now())`;

const SAME_EPISODE = `o.title = n.title_id and o.episode_title is not distinct from n.episode_title_id`;

/** Pairs of an old and a new row that are one airing. */
const PAIRS = [
  `create temp table guide_pairs (old uuid primary key, n int unique) on commit drop`,
  // at the same time with the same title
  `insert into guide_pairs select o.id, n.n from guide_old o
     join guide_new n on n.channel = o.channel and n.start_at = o.start_at and ${SAME_EPISODE}`,
  // moved by up to three hours: the nearest, in both directions
  `insert into guide_pairs select old, n from (
     select o.id as old, n.n,
            row_number() over (partition by o.id order by abs(extract(epoch from n.start_at - o.start_at)), n.n) as for_old,
            row_number() over (partition by n.n order by abs(extract(epoch from n.start_at - o.start_at)), o.id) as for_new
       from guide_old o
       join guide_new n on n.channel = o.channel and ${SAME_EPISODE}
        and n.start_at between o.start_at - ${MOVES} and o.start_at + ${MOVES}
      where not exists (select from guide_pairs k where k.old = o.id)
        and not exists (select from guide_pairs k where k.n = n.n)) near
   where for_old = 1 and for_new = 1`,
  // at the same time with another title
  `insert into guide_pairs select o.id, n.n from guide_old o
     join guide_new n on n.channel = o.channel and n.start_at = o.start_at
    where not exists (select from guide_pairs k where k.old = o.id)
      and not exists (select from guide_pairs k where k.n = n.n)`,
];

const CHANGED = `
  update guide_programs p
     set start_at = n.start_at, end_at = n.end_at, title = n.title_id, episode_title = n.episode_title_id,
         ${ABOUT.map((name) => `${name} = n.${name}`).join(', ')}
    from guide_pairs k join guide_new n on n.n = k.n
   where p.id = k.old and (p.hash <> n.hash or p.start_at <> n.start_at or p.end_at <> n.end_at)`;

const GONE = `delete from guide_programs p using guide_old o
   where p.id = o.id and not exists (select from guide_pairs k where k.old = o.id)`;

const ADDED = `
  insert into guide_programs (id, channel, start_at, end_at, title, episode_title, ${ABOUT.join(', ')})
  select n.id, n.channel, n.start_at, n.end_at, n.title_id, n.episode_title_id, ${ABOUT.map((name) => `n.${name}`).join(', ')}
    from guide_new n where not exists (select from guide_pairs k where k.n = n.n)`;

const TITLES = `
  insert into guide_titles (text)
  select title from guide_incoming union select episode_title from guide_incoming where episode_title is not null
  on conflict (text) do nothing`;

const CATEGORIES = `
  insert into guide_categories (text) select distinct unnest(categories) from guide_incoming on conflict (text) do nothing`;

export interface Merged {
  added: number;
  changed: number;
  removed: number;
  /** Programmes of the guide now, and entries that stood twice. */
  programs: number;
  twice: number;
}

/** Makes the programmes of the source what the temporary table holds. Rows that are the same are not written. */
export async function mergeIncoming(db: Db, sourceId: string): Promise<Merged> {
  const run = async (text: string, bindings: string[] = []): Promise<number> =>
    (await db.raw<{ rowCount: number | null }>(text, bindings)).rowCount ?? 0;
  await run('analyze guide_incoming');
  await run(TITLES);
  await run(CATEGORIES);
  await run(PLACED, [sourceId]);
  await run('create index on guide_new (channel, start_at)');
  await run('analyze guide_new');
  await run(OLD, [sourceId]);
  await run('create index on guide_old (channel, start_at)');
  await run('analyze guide_old');
  for (const text of PAIRS) await run(text);
  await run('analyze guide_pairs');
  const removed = await run(GONE);
  const changed = await run(CHANGED);
  const added = await run(ADDED);
  const [counts] = await rowsOf<{ programs: number; twice: number }>(
    db,
    `select (select count(*) from guide_new)::int as programs,
            (select count(*) from guide_incoming)::int - (select count(*) from guide_new)::int as twice`,
    [],
  );
  await run(
    `update guide_channels c set programs = n.count from (
       select g.id, count(p.channel)::int as count from guide_channels g left join guide_new p on p.channel = g.id
        where g.source_id = ? and g.listed group by g.id) n
      where c.id = n.id and c.programs <> n.count`,
    [sourceId],
  );
  return { added, changed, removed, programs: counts?.programs ?? 0, twice: counts?.twice ?? 0 };
}
