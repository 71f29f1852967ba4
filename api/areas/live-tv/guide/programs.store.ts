// Reads of programmes for this area, the channels, watching and the recorder.
import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { RecordingState } from '../recordings/recordings.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'guide_programs.kind': 'movie' | 'series' | 'sports' | 'news' | 'kids' | 'music' | 'other';
    'guide_programs.credits': { name: string; role: string }[];
  }
}

/** A programme with its texts, on the channel for which it was read. */
export interface ProgramRow extends Omit<Row<'guide_programs'>, 'title' | 'episode_title' | 'hash' | 'channel'> {
  title: string;
  episode_title: string | null;
  /** Key of the guide channel. */
  channel: number;
  reminder_id: string | null;
  reminder_ms: number | null;
  /** The latest that was not cancelled. */
  recording: { id: string; state: RecordingState; rule_id: string | null } | null;
}

/** The longest programme: how far before a time its start may lie. */
const LONGEST = `interval '24 hours'`;

const NAMES = [
  ...['id', 'channel', 'start_at', 'end_at', 'description', 'kind', 'categories', 'season_number', 'episode_number'],
  ...['episode_key', 'series_key', 'is_new', 'is_live', 'is_repeat', 'is_premiere', 'year', 'age_rating', 'age_years'],
  ...['star_rating', 'hd', 'credits'],
].map((name) => `p.${name}`);
const COLUMNS = `${NAMES.join(', ')}, p.original_air_date::text as original_air_date, t.text as title, e.text as episode_title`;
const JOINS = `join guide_titles t on t.id = p.title left join guide_titles e on e.id = p.episode_title`;
/** A subquery, so that a list which sorts its rows first reads it for the rows of the page alone. */
const RECORDING = `(select json_build_object('id', x.id, 'state', x.state, 'rule_id', x.rule_id) from recordings x
  where x.program_id = p.id and x.state <> 'cancelled' and x.removed_at is null order by x.created_at desc limit 1) as recording`;
const REMINDER = `r.id as reminder_id, r.lead_ms as reminder_ms, ${RECORDING}`;
/** Binds the profile. */
const REMINDED = `left join program_reminders r on r.program_id = p.id and r.profile_id = ?`;

/** Programmes in a query over `guide_programs as p`, with what `toProgram` reads. */
export function selectPrograms(db: Db, who: Principal): Knex.QueryBuilder {
  return db
    .from('guide_programs as p')
    .joinRaw(JOINS)
    .joinRaw(REMINDED, [who.profileId])
    .select(db.raw(`${COLUMNS}, ${REMINDER}`)) as unknown as Knex.QueryBuilder;
}

export interface ShownOn {
  /** Key of the guide channel. */
  key: number;
  channelId: string;
}

/** Enabled channels that the caller sees; those with DRM only with `library:manage`. Reads `live_channels as c`. */
export function onlyShown(query: Knex.QueryBuilder, who: Principal): void {
  void query.join('items as i', 'i.id', 'c.id').modify(onlyVisibleItems, who, 'i').where('c.enabled', true);
  if (!may(who, 'library:manage')) void query.where('c.drm', false);
}

/**
 * The guide channels that the caller sees, each with the channel that shows it: of several the one with the lowest number.
 * With `only`, those of one channel, programme or list of channels.
 */
export async function findShown(
  db: Db,
  who: Principal,
  only: { channelIds?: readonly string[]; key?: number } = {},
): Promise<ShownOn[]> {
  const query = db
    .from('live_channels as c')
    .joinRaw(
      `join guide_channels g on g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id
       join guide_sources s on s.id = g.source_id and s.enabled`,
    )
    .modify(onlyShown, who) as unknown as Knex.QueryBuilder;
  if (only.channelIds) void query.whereRaw('c.id = any(?::uuid[])', [[...only.channelIds]]);
  if (only.key !== undefined) void query.where('g.id', only.key);
  void query.orderBy([{ column: 'c.number_order' }, { column: 'c.id' }]);
  return (await query.select('g.id as key', 'c.id as channelId')) as ShownOn[];
}

/** Programmes that overlap the window, by guide channel and start. */
export async function findInWindow(
  db: Db,
  who: Principal,
  { keys, from, to }: { keys: readonly number[]; from: Date; to: Date },
): Promise<ProgramRow[]> {
  return rowsOf<ProgramRow>(
    db,
    `select ${COLUMNS}, ${REMINDER} from guide_programs p ${JOINS} ${REMINDED}
      where p.channel = any(?::bigint[]) and p.start_at < ?::timestamptz and p.end_at > ?::timestamptz
        and p.start_at > ?::timestamptz - ${LONGEST}
      order by p.channel, p.start_at`,
    [who.profileId, [...keys], to.toISOString(), from.toISOString(), from.toISOString()],
  );
}

export async function findProgramRow(db: Db, who: Principal, id: string): Promise<ProgramRow | undefined> {
  const [row] = await rowsOf<ProgramRow>(
    db,
    `select ${COLUMNS}, ${REMINDER} from guide_programs p ${JOINS} ${REMINDED}
      where p.id = ? and p.end_at > now() - interval '2 days'`,
    [who.profileId, id],
  );
  return row;
}

/** Other programmes from now on with the same episode or film, on these guide channels. */
export async function findOtherAirings(
  db: Db,
  who: Principal,
  { row, keys, most }: { row: ProgramRow; keys: readonly number[]; most: number },
): Promise<ProgramRow[]> {
  if (row.episode_key === null) return [];
  return rowsOf<ProgramRow>(
    db,
    `select ${COLUMNS}, ${REMINDER} from guide_programs p ${JOINS} ${REMINDED}
      where p.episode_key = ? and p.id <> ? and p.end_at > now() and p.channel = any(?::bigint[])
      order by p.start_at, p.id limit ?`,
    [who.profileId, row.episode_key, row.id, [...keys], most],
  );
}

/** The programme on air and the one after it, for each channel: one lookup by index a channel, in one statement. */
export async function findNowAndNext(
  db: Db,
  who: Principal,
  { channelIds, at }: { channelIds: readonly string[]; at: Date },
): Promise<(ProgramRow & { channel_id: string })[]> {
  return rowsOf(
    db,
    `select ${COLUMNS}, ${REMINDER}, c.id as channel_id
       from live_channels c
       join guide_channels g on g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id
       join guide_sources s on s.id = g.source_id and s.enabled
       join lateral (select * from guide_programs o where o.channel = g.id and o.start_at > ?::timestamptz - ${LONGEST}
          and o.end_at > ?::timestamptz order by o.start_at limit 2) p on true
       ${JOINS} ${REMINDED}
      where c.id = any(?::uuid[]) order by c.id, p.start_at`,
    [at.toISOString(), at.toISOString(), who.profileId, [...channelIds]],
  );
}

/** Restricts a query over `guide_programs as p` to programmes that overlap the window. */
export function onlyInWindow(query: Knex.QueryBuilder, { from, to }: { from: Date; to: Date | undefined }): void {
  const time = from.toISOString();
  void query.whereRaw(`p.start_at > ?::timestamptz - ${LONGEST} and p.end_at > ?::timestamptz`, [time, time]);
  if (to) void query.whereRaw('p.start_at < ?::timestamptz', [to.toISOString()]);
}
