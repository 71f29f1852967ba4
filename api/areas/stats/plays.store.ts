// Plays and their sums, which change together: a sum is what the plays of a quarter of an hour add up to.
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';
import type { PlayMethod, PlaySource } from './stats.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'plays.method': PlayMethod;
    'plays.source': PlaySource;
  }
}

/** Sessions of one item and device with a shorter break are one play. */
const BREAK_MINUTES = 30;
const COUNTS_FROM_MS = 60_000;
const TRACK_FROM_MS = 30_000;

export interface PlayDraft {
  profileId: string;
  itemId: string;
  startedAt: Date;
  endedAt: Date;
  playedMs: number;
  fromMs?: number;
  toMs?: number;
  durationMs?: number | null;
  completed: boolean;
  method: PlayMethod;
  source: PlaySource;
  reasons?: readonly string[];
  quality?: string | null;
  client?: string | null;
  platform?: string | null;
  isRemote?: boolean;
  address?: string | null;
  deviceId?: string | null;
  sessionId?: string | null;
}

/** The quarter of an hour of a column; every day of every time zone begins with one. */
export const quarterSql = (column: string): string => `date_bin('15 minutes', ${column}, timestamptz '2000-01-01')`;

const KEY = 'at, profile_id, item_id, library_id, type, method, client, is_remote';
const SUMS = 'plays, played_ms, completed, bytes';
const COUNTED = `count(*)::int as plays, sum(played_ms)::bigint as played_ms,
  (count(*) filter (where completed))::int as completed, coalesce(sum(bytes), 0)::bigint as bytes`;
/** The sums of rows that have the columns of plays. */
const summed = (from: string, profile = 'profile_id'): string =>
  `select ${quarterSql('started_at')} as at, ${profile} as profile_id, item_id, library_id, type, method, client, is_remote,
     ${COUNTED} from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8`;
const merged = `on conflict (${KEY}) do update set plays = s.plays + excluded.plays, played_ms = s.played_ms + excluded.played_ms,
  completed = s.completed + excluded.completed, bytes = s.bytes + excluded.bytes`;

/** Titles and place of the item, if its play counts for this profile. */
interface Subject {
  account_id: string;
  library_id: string;
  title: string;
  parent_title: string | null;
  type: string;
}

async function subjectOf(db: Db, { profileId, itemId, playedMs, durationMs }: PlayDraft): Promise<Subject | undefined> {
  const [subject] = await rowsOf<Subject>(
    db,
    `select p.account_id, i.library_id, i.title, coalesce(g.title, f.title) as parent_title, coalesce(i.own_type, i.type) as type
       from profiles p, items i left join items f on f.id = i.parent_id left join items g on g.id = i.grandparent_id and i.type = 'episode'
      where p.id = ? and i.id = ? and p.keep_history`,
    [profileId, itemId],
  );
  if (!subject) return undefined;
  const half = durationMs ? durationMs / 2 : TRACK_FROM_MS;
  const least = subject.type === 'track' ? Math.min(TRACK_FROM_MS, half) : COUNTS_FROM_MS;
  return playedMs >= least ? subject : undefined;
}

const UNKNOWN = {
  ...{
    fromMs: 0,
    toMs: 0,
    durationMs: null,
    reasons: [],
    quality: null,
    client: null,
    platform: null,
    isRemote: false,
  },
  ...{ address: null, deviceId: null, sessionId: null },
};

function columnsOf(draft: PlayDraft) {
  const play = { ...UNKNOWN, ...draft };
  return {
    profile_id: play.profileId,
    item_id: play.itemId,
    started_at: play.startedAt,
    ended_at: play.endedAt,
    played_ms: Math.round(play.playedMs),
    from_ms: play.fromMs,
    to_ms: play.toMs,
    duration_ms: play.durationMs,
    completed: play.completed,
    method: play.method,
    reasons: play.reasons,
    quality: play.quality,
    client: play.client ?? '',
    platform: play.platform,
    is_remote: play.isRemote,
    address: play.address,
    source: play.source,
    device_id: play.deviceId,
    session_id: play.sessionId,
  };
}

/** Adds a play, or continues the one that the same device broke off. Plays that are too short to count leave no trace. */
export async function recordPlay(db: Db, draft: PlayDraft): Promise<void> {
  if (await continued(db, draft)) return;
  const subject = await subjectOf(db, draft);
  if (!subject) return;
  const id = newId();
  await db('plays').insert({ id, ...subject, ...columnsOf(draft) });
  await db.raw(
    `insert into play_sums as s (${KEY}, ${SUMS}) ${summed('(select * from plays where id = ? and started_at = ?) g')} ${merged}`,
    [id, draft.startedAt],
  );
}

/** True when an earlier play of the device took the session in. */
async function continued(db: Db, draft: PlayDraft): Promise<boolean> {
  if (!draft.deviceId || draft.source !== 'playback') return false;
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `with last as (
       select p.id, p.started_at, p.completed from plays p join profiles r on r.id = p.profile_id and r.keep_history
        where p.profile_id = ? and p.item_id = ? and p.device_id = ? and p.started_at <= ?
          and p.ended_at >= ?::timestamptz - make_interval(mins => ?)
        order by p.started_at desc limit 1 for update of p),
     grown as (
       update plays p set ended_at = greatest(p.ended_at, ?), played_ms = p.played_ms + ?, to_ms = ?, completed = p.completed or ?
         from last where p.id = last.id and p.started_at = last.started_at returning p.*, last.completed as before)
     update play_sums s set played_ms = s.played_ms + ?,
            completed = s.completed + case when g.completed and not g.before then 1 else 0 end
       from grown g where s.at = ${quarterSql('g.started_at')} and s.profile_id = g.profile_id and s.item_id = g.item_id
        and s.library_id = g.library_id and s.type = g.type and s.method = g.method and s.client = g.client
        and s.is_remote = g.is_remote`,
    [
      ...[draft.profileId, draft.itemId, draft.deviceId, draft.startedAt, draft.startedAt, BREAK_MINUTES],
      ...[draft.endedAt, Math.round(draft.playedMs), draft.toMs ?? 0, draft.completed, Math.round(draft.playedMs)],
    ],
  );
  return rowCount > 0;
}

export interface Forgotten {
  profileIds: readonly string[];
  ids?: readonly string[] | undefined;
  itemId?: string | undefined;
  before?: Date | undefined;
}

/** Deletes plays of profiles. The sums keep their figures without the person. */
export async function forgetPlays(db: Db, { profileIds, ids, itemId, before }: Forgotten): Promise<void> {
  const ofItem = `(p.item_id = :itemId or p.item_id in (select i.id from items i where i.parent_id = :itemId or i.grandparent_id = :itemId))`;
  const conditions = [
    ...['p.profile_id = any(cast(:profileIds as uuid[]))'],
    ...(ids ? ['p.id = any(cast(:ids as uuid[]))'] : []),
    ...(itemId ? [ofItem] : []),
    ...(before ? ['p.started_at < :before'] : []),
  ].join(' and ');
  const bindings = { profileIds: [...profileIds], ids: [...(ids ?? [])], itemId: itemId ?? '', before: before ?? '' };
  await db.raw(
    `with gone as (delete from plays p where ${conditions} returning p.*),
     less as (
       update play_sums s set plays = s.plays - g.plays, played_ms = s.played_ms - g.played_ms,
              completed = s.completed - g.completed, bytes = s.bytes - g.bytes
         from (${summed('gone')}) g
        where s.at = g.at and s.profile_id = g.profile_id and s.item_id = g.item_id and s.library_id = g.library_id
          and s.type = g.type and s.method = g.method and s.client = g.client and s.is_remote = g.is_remote)
     insert into play_sums (${KEY}, ${SUMS}) ${summed('gone', 'null::uuid')}`,
    bindings,
  );
  await db('play_sums').whereIn('profile_id', profileIds).where('plays', '<=', 0).delete();
}

/** Plays and sums follow items that became part of others; `fileIds` limits a pair to plays of these files. */
export async function movePlays(
  db: Db,
  pairs: readonly { from: string; into: string; fileIds?: readonly string[] }[],
): Promise<void> {
  const rows = JSON.stringify(pairs);
  const same = (one: string, other: string): string =>
    ['profile_id', 'library_id', 'type', 'method', 'client', 'is_remote']
      .map((column) => `${one}.${column} is not distinct from ${other}.${column}`)
      .join(' and ');
  await db.raw(
    `with pairs as (select * from jsonb_to_recordset(?::jsonb) as r("from" uuid, "into" uuid, "fileIds" uuid[])),
     moved as (
       update plays p set item_id = r."into" from pairs r where p.item_id = r."from"
          and (r."fileIds" is null or (select s.file_id from playback_sessions s where s.id = p.session_id) = any(r."fileIds"))
       returning p.*, r."from" as old),
     sums as (
       select old, ${quarterSql('started_at')} as at, profile_id, item_id, library_id, type, method, client, is_remote, ${COUNTED}
         from moved group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
     less as (
       update play_sums s set plays = s.plays - g.plays, played_ms = s.played_ms - g.played_ms,
              completed = s.completed - g.completed, bytes = s.bytes - g.bytes
         from sums g where s.at = g.at and s.item_id = g.old and ${same('s', 'g')})
     insert into play_sums as s (${KEY}, ${SUMS}) select ${KEY}, ${SUMS} from sums ${merged}`,
    [rows],
  );
}

/** Deletes plays past the days to keep, and the addresses of those older than 30 days. The sums stay without persons. */
export async function trimPlays(db: Db, keepDays: number): Promise<void> {
  await db.raw(`update plays set address = null where address is not null and started_at < now() - interval '30 days'`);
  await db.raw('delete from play_sums where plays <= 0');
  if (keepDays === 0) return;
  await db.raw(`delete from plays where started_at < now() - make_interval(days => ?)`, [keepDays]);
  await db.raw(
    `update play_sums set profile_id = null where profile_id is not null and at < now() - make_interval(days => ?)`,
    [keepDays],
  );
}
