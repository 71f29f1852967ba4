// Sources move between channels; a channel without sources goes.
import { deleteChannelItems, insertChannelItems } from '#areas/libraries/public.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';
import { type ChannelRow, deriveFromSources, type SourceRow, takenNumbers, withoutSources } from './channels.store.ts';
import { Numbers, numberOrder, tidyNumber, wholeOf } from './numbers.ts';

/** Removes those of these channels that have no source any more; their favourites pass to the channel that took them. */
export async function removeEmpty(
  db: Db,
  { libraryId, ids, into }: { libraryId: string; ids: readonly string[]; into: string },
): Promise<string[]> {
  const empty = await withoutSources(db, ids);
  if (empty.length === 0) return [];
  await refuseStreaming(db, empty);
  await db.raw(
    `insert into live_favorites (profile_id, channel_id) select distinct profile_id, ?::uuid from live_favorites
     where channel_id = any(?::uuid[]) and exists (select from live_channels c where c.id = ?) on conflict do nothing`,
    [into, empty, into],
  );
  await deleteChannelItems(db, libraryId, empty);
  return empty;
}

/** Throws 409 `channel-in-use` for channels that are on. */
async function refuseStreaming(db: Db, ids: readonly string[]): Promise<void> {
  const open = await db('live_streams').whereIn('channel_id', ids).whereNull('ended_at').first('channel_id');
  if (open) throw conflict('channel-in-use', 'A channel that would go is on', { channelId: open.channel_id });
}

/** Makes a channel of each source, and returns their ids. */
export async function splitOff(db: Db, channel: ChannelRow, sources: readonly SourceRow[]): Promise<string[]> {
  if (sources.length === 0) return [];
  const numbers = new Numbers(await takenNumbers(db, channel.library_id));
  const rows = sources.map((source) => {
    const wanted = tidyNumber(source.remote_number) ?? channel.number;
    const number = numbers.takeOr(wanted);
    const { library_id, kind, group_name, age_rating, language } = channel;
    return {
      ...{ id: newId(), library_id, kind, group_name, age_rating, language },
      ...{
        name: source.remote_name.slice(0, 100),
        number: number ?? wanted,
        number_order: numberOrder(number ?? wanted),
      },
      enabled: number !== undefined && channel.enabled,
    };
  });
  const items = rows.map(({ id, name, number, age_rating: ageRating }) => {
    return { id, title: name, number: wholeOf(number), ageRating };
  });
  await insertChannelItems(db, channel.library_id, items);
  await db('live_channels').insert(rows);
  for (const [i, { id }] of sources.entries())
    await db('live_sources')
      .where({ id })
      .update({ channel_id: rows[i]?.id ?? '', position: 0 });
  const ids = rows.map(({ id }) => id);
  await deriveFromSources(db, ids);
  return ids;
}

interface Mergeable {
  id: string;
  key: string;
  tuners: string[];
}

/** Joins channels of different tuners that have the same name or guide, HD sources first. Returns those that changed and those that went. */
export async function mergeSame(
  db: Db,
  { libraryId, ids, by }: { libraryId: string; ids: readonly string[]; by: 'same-name' | 'same-guide' },
): Promise<{ changed: string[]; gone: string[] }> {
  const key =
    by === 'same-name'
      ? `btrim(regexp_replace(foyer_fold(c.name), '\\y(f?hd|uhd|sd|4k)\\y', '', 'g'))`
      : `c.guide_source_id || ' ' || c.guide_channel_id`;
  const rows = await rowsOf<Mergeable>(
    db,
    `select c.id, ${key} as key, array(select distinct s.tuner_id::text from live_sources s where s.channel_id = c.id) as tuners
     from live_channels c where c.id = any(?::uuid[]) and ${key} <> '' order by c.enabled desc, c.number_order, c.id`,
    [[...ids]],
  );
  const changed: string[] = [];
  const gone: string[] = [];
  for (const [, group] of Map.groupBy(rows, (row) => row.key)) {
    const [target, ...others] = group;
    const joined = target ? othersOf(target, others) : [];
    if (!target || joined.length === 0) continue;
    await db('live_sources').whereIn('channel_id', joined).update({ channel_id: target.id });
    await orderSources(db, target.id);
    gone.push(...(await removeEmpty(db, { libraryId, ids: joined, into: target.id })));
    changed.push(target.id);
  }
  await deriveFromSources(db, changed);
  return { changed, gone };
}

/** One channel of each further tuner. */
function othersOf(target: Mergeable, others: readonly Mergeable[]): string[] {
  const held = new Set(target.tuners);
  return others.flatMap(({ id, tuners }) => {
    if (tuners.some((tuner) => held.has(tuner))) return [];
    for (const tuner of tuners) held.add(tuner);
    return [id];
  });
}

async function orderSources(db: Db, channelId: string): Promise<void> {
  await db.raw(
    `update live_sources s set position = o.place - 1 from (
       select x.id, row_number() over (order by case x.quality when 'uhd' then 0 when 'hd' then 1 else 2 end, t.priority desc, x.position, x.id) as place
       from live_sources x join live_tuners t on t.id = x.tuner_id where x.channel_id = ?) o where s.id = o.id`,
    [channelId],
  );
}
