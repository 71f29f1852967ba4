import { movePlays } from '#areas/stats/public.ts';
import type { Db } from '#platform/db.ts';

/** An item that becomes part of another one, or only some of its files. */
interface Joined {
  from: string;
  into: string;
  /** Only what people left who played one of these files last. Absent is everything. */
  fileIds?: readonly string[];
}

const STATE = [
  ...['position_ms', 'file_id', 'progress', 'watched', 'last_played_at', 'state_at', 'reading', 'updated_at'],
] as const;

/**
 * Moves what people left in items to the items that those become part of: the newest position and choice of tracks, the
 * highest play count and rating. Each item is in one pair only, on either side. Plays follow the file that was played.
 */
export async function joinStates(db: Db, pairs: readonly Joined[]): Promise<void> {
  const rows = JSON.stringify(pairs);
  const pair = `jsonb_to_recordset(?::jsonb) as r("from" uuid, "into" uuid, "fileIds" uuid[])`;
  const ofFile = (column: string): string => `(r."fileIds" is null or ${column} = any(r."fileIds"))`;
  const newest = STATE.map(
    (name) => `${name} = case when excluded.updated_at > s.updated_at then excluded.${name} else s.${name} end`,
  );
  await db.raw(
    `insert into item_states as s (profile_id, item_id, library_id, ${STATE.join()}, play_count, rating, favorite, rated_at)
     select o.profile_id, r.into, o.library_id, ${STATE.map((name) => `o.${name}`).join()}, o.play_count, o.rating, o.favorite, o.rated_at
     from ${pair} join item_states o on o.item_id = r.from and ${ofFile('o.file_id')}
     on conflict (profile_id, item_id) do update set ${newest.join()}, play_count = greatest(s.play_count, excluded.play_count),
       rating = greatest(s.rating, excluded.rating), favorite = s.favorite or excluded.favorite,
       rated_at = greatest(s.rated_at, excluded.rated_at)`,
    [rows],
  );
  await db.raw(
    `insert into track_choices as s (profile_id, item_id, audio_language, subtitle_language, subtitle_off, updated_at)
     select o.profile_id, r.into, o.audio_language, o.subtitle_language, o.subtitle_off, o.updated_at
     from ${pair} join track_choices o on o.item_id = r.from and ${ofFile('(select s.file_id from item_states s where s.item_id = o.item_id and s.profile_id = o.profile_id)')}
     on conflict (profile_id, item_id) do update set audio_language = excluded.audio_language,
       subtitle_language = excluded.subtitle_language, subtitle_off = excluded.subtitle_off, updated_at = excluded.updated_at
       where excluded.updated_at > s.updated_at`,
    [rows],
  );
  await movePlays(db, pairs);
  const playing = `from ${pair} where t.item_id = r.from and ${ofFile('t.file_id')}`;
  await db.raw(`update playback_sessions t set item_id = r.into ${playing}`, [rows]);
  await db.raw(`update transcode_sessions t set item_id = r.into ${playing}`, [rows]);
  await db.raw(
    `with left_behind as (select o.profile_id, o.item_id from ${pair} join item_states o on o.item_id = r.from and o.file_id = any(r."fileIds")),
       chosen as (delete from track_choices c using left_behind l where c.profile_id = l.profile_id and c.item_id = l.item_id)
     delete from item_states o using left_behind l where o.profile_id = l.profile_id and o.item_id = l.item_id`,
    [rows],
  );
}
